// Draws figures with the gnuplot program.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_GNUPLOT_H_
#define RINGSIDE_EXPERIMENTS_REPORT_GNUPLOT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "experiments/report/figure.h"

namespace ringside {

// SVG as gnuplot writes it. `work_dir` exists and is the caller's: script, data and drawing are
// left in it, under names that begin with the figure's. `program` is looked up in PATH unless it
// has a slash. Blocks until gnuplot ends. UNAVAILABLE: there is no such program (the message names
// the package); INTERNAL: gnuplot refused the script, with what it said; DEADLINE_EXCEEDED: it took
// longer than `timeout` and was killed; UNKNOWN: files or processes could not be made.
absl::StatusOr<std::string> DrawSvg(const Figure& figure, const std::string& work_dir,
                                    const std::string& program = "gnuplot",
                                    absl::Duration timeout = absl::Seconds(60));

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_GNUPLOT_H_
