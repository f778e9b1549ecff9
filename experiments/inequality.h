// Whether runs that differ in more than they should may be compared. Pure.
#ifndef RINGSIDE_EXPERIMENTS_INEQUALITY_H_
#define RINGSIDE_EXPERIMENTS_INEQUALITY_H_

namespace ringside {

enum class Inequality { kRefused, kAllowed };

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_INEQUALITY_H_
