// A prediction as figures: step time and efficiency over the number of workers. Pure.
#ifndef RINGSIDE_EXPERIMENTS_MODEL_PREDICTION_FIGURES_H_
#define RINGSIDE_EXPERIMENTS_MODEL_PREDICTION_FIGURES_H_

#include <vector>

#include "experiments/model/prediction.h"
#include "experiments/report/figure.h"

namespace ringside {

// "predicted_step" and "predicted_efficiency"; the crossover of workers is a line in the first.
std::vector<Figure> PredictionFigures(const Prediction& prediction);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MODEL_PREDICTION_FIGURES_H_
