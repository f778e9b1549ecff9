// A figure with its drawing.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_DRAWN_FIGURE_H_
#define RINGSIDE_EXPERIMENTS_REPORT_DRAWN_FIGURE_H_

#include <string>

#include "experiments/report/figure.h"

namespace ringside {

struct DrawnFigure {
  Figure figure;
  std::string svg;  // as InlineSvg makes it
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_DRAWN_FIGURE_H_
