#include "experiments/report/report_writer.h"

#include <google/protobuf/util/json_util.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "experiments/report/comparison.h"
#include "experiments/report/csv_table.h"
#include "experiments/report/drawn_figure.h"
#include "experiments/report/figures.h"
#include "experiments/report/gnuplot.h"
#include "experiments/report/html_page.h"
#include "experiments/report/markdown_summary.h"
#include "experiments/report/svg_theme.h"
#include "experiments/report/text_file.h"

namespace ringside {
namespace {

absl::Status MakeFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return absl::OkStatus();
  return absl::ErrnoToStatus(error.value(), absl::StrCat("making the folder ", path));
}

// A folder for gnuplot's scripts, removed with all that is in it.
class WorkFolder {
 public:
  static absl::StatusOr<WorkFolder> Make(const std::string& parent) {
    std::string path = absl::StrCat(parent, "/.drawing.XXXXXX");
    if (mkdtemp(path.data()) == nullptr) {
      return absl::ErrnoToStatus(errno, absl::StrCat("making a folder in ", parent));
    }
    return WorkFolder(path);
  }
  WorkFolder(WorkFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder() {
    std::error_code ignored;  // what stays behind is a hidden folder with a few kilobytes
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }

 private:
  explicit WorkFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

absl::StatusOr<std::string> ToJson(const ComparisonResult& comparison) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  // Zeros and failed gates are results, not absences.
  options.always_print_primitive_fields = true;
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(comparison, &json, options);
  if (!status.ok()) return absl::InternalError(absl::StrCat("results.json: ", status.ToString()));
  return json;
}

absl::StatusOr<std::vector<DrawnFigure>> DrawAll(const ComparisonResult& comparison,
                                                 const std::string& folder) {
  RINGSIDE_ASSIGN_OR_RETURN(const WorkFolder work, WorkFolder::Make(folder));
  std::vector<DrawnFigure> drawn;
  for (const Figure& figure : Figures(comparison)) {
    RINGSIDE_ASSIGN_OR_RETURN(const std::string raw, DrawSvg(figure, work.path()));
    RINGSIDE_ASSIGN_OR_RETURN(std::string svg, InlineSvg(figure, raw));
    drawn.push_back({figure, std::move(svg)});
  }
  return drawn;
}

}  // namespace

absl::Status WriteReport(const ComparisonResult& comparison, const std::string& out_dir) {
  const std::string figure_dir = absl::StrCat(out_dir, "/figures");
  RINGSIDE_RETURN_IF_ERROR(MakeFolder(figure_dir));
  RINGSIDE_ASSIGN_OR_RETURN(const std::string json, ToJson(comparison));
  RINGSIDE_RETURN_IF_ERROR(WriteTextFile(absl::StrCat(out_dir, "/results.json"), json));
  RINGSIDE_RETURN_IF_ERROR(
      WriteTextFile(absl::StrCat(out_dir, "/results.csv"), CellsCsv(comparison)));
  RINGSIDE_RETURN_IF_ERROR(
      WriteTextFile(absl::StrCat(out_dir, "/summary.md"), MarkdownSummary(comparison)));
  RINGSIDE_ASSIGN_OR_RETURN(const std::vector<DrawnFigure> figures,
                            DrawAll(comparison, figure_dir));
  for (const DrawnFigure& drawn : figures) {
    const std::string path = absl::StrCat(figure_dir, "/", drawn.figure.name);
    RINGSIDE_RETURN_IF_ERROR(WriteTextFile(absl::StrCat(path, ".svg"), StandaloneSvg(drawn.svg)));
    RINGSIDE_RETURN_IF_ERROR(WriteTextFile(absl::StrCat(path, ".csv"), drawn.figure.csv));
  }
  return WriteTextFile(absl::StrCat(out_dir, "/report.html"), HtmlPage(comparison, figures));
}

absl::StatusOr<ComparisonResult> ReadComparison(const std::string& path_to_results_json) {
  RINGSIDE_ASSIGN_OR_RETURN(const std::string json, ReadTextFile(path_to_results_json));
  ComparisonResult comparison;
  const auto status = google::protobuf::util::JsonStringToMessage(json, &comparison);
  if (!status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path_to_results_json,
                     " is not the results of a comparison: ", std::string(status.message())));
  }
  if (comparison.schema_version() != kResultsSchemaVersion) {
    return absl::InvalidArgumentError(absl::StrCat(path_to_results_json, " has schema version ",
                                                   comparison.schema_version(),
                                                   ", this program reads ", kResultsSchemaVersion));
  }
  return comparison;
}

}  // namespace ringside
