// A prediction as lines for a terminal. Pure.
#ifndef RINGSIDE_EXPERIMENTS_MODEL_PREDICTION_TEXT_H_
#define RINGSIDE_EXPERIMENTS_MODEL_PREDICTION_TEXT_H_

#include <string>

#include "experiments/model/prediction.h"

namespace ringside {

// What the model costs, a table of step times and another of what failures make of them, who is
// faster, what was assumed, and warnings.
std::string PredictionText(const Prediction& prediction);

// Three significant digits with a fitting unit up to hours: "950 us", "12 s", "2.5 min", "417 h".
// Of one byte a character, so that columns can be padded. "0 s" and "never" (infinite) too.
std::string DurationText(double seconds);

// "ring is faster up to 12 workers, ps, dedicated from 13 on"
std::string PredictedCrossoverText(const Crossover& crossover);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MODEL_PREDICTION_TEXT_H_
