// A prediction as figures: step time, efficiency and goodput over the number of workers. Pure.
#ifndef RINGSIDE_EXPERIMENTS_MODEL_PREDICTION_FIGURES_H_
#define RINGSIDE_EXPERIMENTS_MODEL_PREDICTION_FIGURES_H_

#include <vector>

#include "experiments/model/prediction.h"
#include "experiments/report/figure.h"

namespace ringside {

// "predicted_step" and "predicted_efficiency"; where failures were asked about "predicted_goodput"
// too. The crossover of workers is a line in them.
std::vector<Figure> PredictionFigures(const Prediction& prediction);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MODEL_PREDICTION_FIGURES_H_
