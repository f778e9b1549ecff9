// What a report says, in its order; report.html and summary.md are two renderings of it. Pure.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_SECTIONS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_SECTIONS_H_

#include <string>
#include <vector>

#include "experiments/report/table.h"
#include "results.pb.h"

namespace ringside {

// One thing below the other. All texts are plain; renderers escape them.
struct Block {
  enum class Kind {
    kTable,
    kWideText,  // a table of long words, which are broken
    kFigures,   // those named that were drawn, side by side
    kSentences,
    kStepParts,  // what the parts of a step are
    kGates,
    kCommand,
  };

  Kind kind = Kind::kTable;
  std::string label = "";  // of a table: what it is, for those who cannot see it
  Table table = {};
  std::string note = "";  // below a table: what its numbers are
  std::vector<std::string> names =
      {};               // of figures; one that ends in * stands for all that begin so
  bool beside = false;  // may stand beside the figures before it
  std::vector<std::string> sentences = {};  // or the command, alone
};

struct Section {
  std::string id;  // stable: links and tests rely on it
  std::string title;
  std::string lead;           // a sentence or two; may be empty
  std::vector<Block> blocks;  // at least one that is not empty, if only of figures not drawn
};

// After headline and verdict. Sections without anything to show are left out; one that has nothing
// but figures stays, for the renderer knows what was drawn.
std::vector<Section> Sections(const ComparisonResult& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_SECTIONS_H_
