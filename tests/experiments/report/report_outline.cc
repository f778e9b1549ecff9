#include "tests/experiments/report/report_outline.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace ringside {
namespace {

// What lies between `begin` and `end`, and where that ends; npos where there is none.
struct Found {
  absl::string_view text;
  size_t end = absl::string_view::npos;
};

Found Between(absl::string_view html, size_t from, absl::string_view begin, absl::string_view end) {
  const size_t at = html.find(begin, from);
  if (at == absl::string_view::npos) return {};
  const size_t start = at + begin.size();
  const size_t stop = html.find(end, start);
  if (stop == absl::string_view::npos) return {};
  return {html.substr(start, stop - start), stop};
}

int Count(absl::string_view text, absl::string_view part) {
  int count = 0;
  for (size_t at = text.find(part); at != absl::string_view::npos;
       at = text.find(part, at + part.size()))
    ++count;
  return count;
}

std::string TableOutline(absl::string_view table, absl::string_view label) {
  std::vector<std::string> titles;
  for (Found title = Between(table, 0, "<th ", "</th>"); title.end != absl::string_view::npos;
       title = Between(table, title.end, "<th ", "</th>")) {
    titles.push_back(std::string(title.text.substr(title.text.find('>') + 1)));
  }
  const Found body = Between(table, 0, "<tbody>", "</tbody>");
  return absl::StrCat("  table ", label, ": ", absl::StrJoin(titles, " | "), " (",
                      Count(body.text, "<tr"), " rows)\n");
}

// The element that begins at `at`, as a line of the outline; where to go on.
size_t AddElement(absl::string_view html, size_t at, std::string* outline) {
  const absl::string_view rest = html.substr(at);
  const auto text = [&](absl::string_view begin, absl::string_view end) {
    return Between(rest, 0, begin, end).text;
  };
  if (absl::StartsWith(rest, "<h1>")) {
    absl::StrAppend(outline, "h1 ", text("<h1>", "</h1>"), "\n");
  } else if (absl::StartsWith(rest, "<section ")) {
    absl::StrAppend(outline, "section ", text("id=\"", "\""), "\n");
  } else if (absl::StartsWith(rest, "<h2")) {
    absl::StrAppend(outline, "  h2 ", text(">", "</h2>"), "\n");
  } else if (absl::StartsWith(rest, "<figure>")) {
    const absl::string_view figure = text("<figure>", "</figure>");
    const Found title = Between(figure, 0, "<h3>", "</h3>");
    const Found file = Between(figure, 0, "href=\"", "\"");
    absl::StrAppend(outline, "  figure ", title.text, ": ", file.text, "\n");
    return at + figure.size();
  } else if (absl::StartsWith(rest, "<div class=\"scroll\"")) {
    const absl::string_view table = text("<div ", "</table>");
    absl::StrAppend(outline, TableOutline(table, text("aria-label=\"", "\"")));
    return at + table.size();
  } else if (absl::StartsWith(rest, "<ul class=")) {
    const absl::string_view list = text("<ul ", "</ul>");
    absl::StrAppend(outline, "  list ", text("class=\"", "\""), " (", Count(list, "<li"), ")\n");
    return at + list.size();
  } else if (absl::StartsWith(rest, "<dl class=")) {
    absl::StrAppend(outline, "  words ", text("class=\"", "\""), " (",
                    Count(text("<dl ", "</dl>"), "<dt"), ")\n");
  } else if (absl::StartsWith(rest, "<pre>")) {
    absl::StrAppend(outline, "  command\n");
  }
  return at + 1;
}

}  // namespace

std::string OutlineOfHtml(absl::string_view html) {
  std::string outline;
  const size_t body = html.find("<body>");
  size_t at = body == absl::string_view::npos ? 0 : body;
  while ((at = html.find('<', at)) != absl::string_view::npos) at = AddElement(html, at, &outline);
  return outline;
}

std::string OutlineOfMarkdown(absl::string_view markdown) {
  std::string outline;
  int rows = -1;  // of the table at hand, its rule not counted
  int entries = 0;
  for (const absl::string_view line : absl::StrSplit(markdown, '\n')) {
    const bool in_table = absl::StartsWith(line, "|");
    if (rows >= 0 && !in_table) {
      absl::StrAppend(&outline, "  (", rows - 1, " rows)\n");
      rows = -1;
    }
    if (entries > 0 && !absl::StartsWith(line, "- ")) {
      absl::StrAppend(&outline, "  list (", entries, ")\n");
      entries = 0;
    }
    if (absl::StartsWith(line, "#")) absl::StrAppend(&outline, line, "\n");
    if (absl::StartsWith(line, "- ")) ++entries;
    if (in_table && ++rows == 0) absl::StrAppend(&outline, "  ", line, "\n");
  }
  return outline;
}

}  // namespace ringside
