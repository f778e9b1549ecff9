// A prediction as lines for a terminal. Pure.
#ifndef RINGSIDE_EXPERIMENTS_MODEL_PREDICTION_TEXT_H_
#define RINGSIDE_EXPERIMENTS_MODEL_PREDICTION_TEXT_H_

#include <string>

#include "experiments/model/prediction.h"

namespace ringside {

// What the model costs, a table of step times, who is faster, what was assumed, and warnings.
std::string PredictionText(const Prediction& prediction);

// "ring is faster up to 12 workers, ps, dedicated from 13 on"
std::string PredictedCrossoverText(const Crossover& crossover);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MODEL_PREDICTION_TEXT_H_
