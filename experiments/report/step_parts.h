// The parts of a step, in the order in which they happen; their sum is the step.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_STEP_PARTS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STEP_PARTS_H_

#include <vector>

#include "results.pb.h"

namespace ringside {

struct StepPart {
  const char* label;
  const char* column;   // as in StepRecord
  const char* meaning;  // a sentence
  const char* colour;   // "#rrggbb", unlike those of the series
  double (*seconds_of)(const StepRecord&);
};

const std::vector<StepPart>& StepParts();

// The first share of exposed communication, where it was told apart.
const StepPart& WaitForSlowest();
// Whether it was, in any cell.
bool AnyWaitForSlowest(const ComparisonResult& comparison);

// None of the parts: it goes on at the same time as Backward.
const StepPart& HiddenCommunication();

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STEP_PARTS_H_
