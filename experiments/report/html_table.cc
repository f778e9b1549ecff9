#include "experiments/report/html_table.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "experiments/report/html_text.h"

namespace ringside {
namespace {

// Whose first columns say what a row is about: they stay in sight while the others scroll.
bool HasCellRows(const Table& table) {
  return table.columns.size() > 2 && table.columns[0].title == "Workers" &&
         table.columns[1].title == "Strategy";
}

}  // namespace

std::string HtmlField(const Field& field) {
  const std::string text = EscapeHtml(field.text);
  std::string html;
  switch (field.kind) {
    case Field::Kind::kText:
      html = text;
      break;
    case Field::Kind::kCode:
      html = absl::StrCat("<code>", text, "</code>");
      break;
    case Field::Kind::kSeries:
      html = absl::StrCat("<span class=\"series\"><i style=\"background:", EscapeHtml(field.colour),
                          "\"></i>", text, "</span>");
      break;
    case Field::Kind::kPass:
      html = absl::StrCat("<span class=\"badge pass\">", text, "</span>");
      break;
    case Field::Kind::kFail:
      html = absl::StrCat("<span class=\"badge fail\">", text, "</span>");
      break;
  }
  if (!field.note.empty()) absl::StrAppend(&html, " <small>", EscapeHtml(field.note), "</small>");
  return html;
}

std::string HtmlTable(const Table& table, const std::string& label) {
  std::string html = absl::StrCat(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"", EscapeHtml(label),
      "\">\n", HasCellRows(table) ? "<table class=\"cells\">" : "<table>", "\n<thead><tr>");
  const auto numeric = [&table](size_t column) {
    return table.columns[column].numeric ? " class=\"n\"" : "";
  };
  for (size_t i = 0; i < table.columns.size(); ++i) {
    absl::StrAppend(&html, "<th scope=\"col\"", numeric(i), ">", EscapeHtml(table.columns[i].title),
                    "</th>");
  }
  absl::StrAppend(&html, "</tr></thead>\n<tbody>\n");
  std::string previous;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const std::vector<Field>& fields = table.rows[row];
    const bool same_group = row > 0 && fields.front().text == previous;
    absl::StrAppend(&html, same_group ? "<tr class=\"same\">" : "<tr>");
    for (size_t i = 0; i < fields.size(); ++i) {
      absl::StrAppend(&html, "<td", numeric(i), ">", HtmlField(fields[i]), "</td>");
    }
    absl::StrAppend(&html, "</tr>\n");
    previous = fields.front().text;
  }
  return absl::StrCat(html, "</tbody>\n</table>\n</div>\n");
}

}  // namespace ringside
