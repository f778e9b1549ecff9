// When and how long one rank computes in a simulated step. Seconds.
#ifndef RINGSIDE_EXPERIMENTS_MODEL_RANK_TIMES_H_
#define RINGSIDE_EXPERIMENTS_MODEL_RANK_TIMES_H_

namespace ringside {

struct RankTimes {
  double start_s = 0;
  double before_backward_s = 0;
  double backward_s = 0;
  double after_s = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MODEL_RANK_TIMES_H_
