// What the facts of a machine mean for Ringside, and how to mend what is wrong. Pure.
#ifndef RINGSIDE_EXPERIMENTS_DOCTOR_CHECKS_H_
#define RINGSIDE_EXPERIMENTS_DOCTOR_CHECKS_H_

#include <string>
#include <vector>

#include "experiments/doctor/system_facts.h"

namespace ringside {

enum class Health {
  kOk,
  kWarn,  // works, but slower or with less in the report
  kFail,  // jobs will not run
};

struct Finding {
  Health health = Health::kOk;
  std::string subject;  // "BLAS"
  std::string fact;     // what was found
  std::string remedy;   // how to mend it; empty where all is well
};

std::vector<Finding> CheckSystem(const SystemFacts& facts);

bool AnyFailure(const std::vector<Finding>& findings);

// "warn  BLAS            reference BLAS (...)\n        mend: apt-get install ...\n"
std::string Format(const Finding& finding);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_DOCTOR_CHECKS_H_
