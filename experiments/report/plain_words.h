// For a reader who knows nothing of the project: what was compared, and what came out, in plain
// sentences. Pure.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_PLAIN_WORDS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_PLAIN_WORDS_H_

#include <string>
#include <vector>

#include "results.pb.h"

namespace ringside {

struct Explained {
  std::string what;     // "ps"
  std::string meaning;  // a sentence or two
  std::string colour;   // of a series; empty for other words
};

// Every series of the comparison, and the words that the verdict uses.
std::vector<Explained> Glossary(const ComparisonResult& comparison);

// What all contrasts say together, a sentence for each pair of contenders: "ring was faster than ps
// in 2 of 3 comparisons (1.56 to 2.12 times as fast); 1 showed no significant difference.". Empty
// where there are fewer than two contrasts, or where a gate has failed.
std::vector<std::string> PlainVerdict(const ComparisonResult& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_PLAIN_WORDS_H_
