#include "experiments/sweep/spec_source.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <vector>

#include "absl/strings/str_cat.h"

namespace ringside {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::TextFormat;
using google::protobuf::io::Tokenizer;

// Keeps the first error: those that follow mostly come of it.
class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  explicit FirstError(std::string name) : name_(std::move(name)) {}
  void AddError(int line, int column, const std::string& message) override {
    static_cast<void>(column);
    if (text_.empty()) text_ = absl::StrCat(name_, ":", line + 1, ": ", message);
  }
  const std::string& text() const { return text_; }

 private:
  const std::string name_;
  std::string text_;
};

// The words of a text that has been parsed.
class Words {
 public:
  explicit Words(const std::string& text) {
    FirstError errors("");
    google::protobuf::io::ArrayInputStream stream(text.data(), static_cast<int>(text.size()));
    Tokenizer tokenizer(&stream, &errors);
    tokenizer.set_comment_style(Tokenizer::SH_COMMENT_STYLE);
    while (tokenizer.Next()) words_.push_back(tokenizer.current());
  }

  // Lines of the values of the field whose name is at that place: one, or those in its brackets.
  std::vector<int> LinesOfValues(TextFormat::ParseLocation place) const {
    size_t at = 0;
    while (at < words_.size() &&
           (words_[at].line != place.line || words_[at].column != place.column)) {
      ++at;
    }
    ++at;  // its name
    if (TextAt(at) == ":") ++at;
    if (TextAt(at) != "[") return {place.line};
    std::vector<int> lines;
    int depth = 0;
    for (; at < words_.size(); ++at) {
      const std::string& text = words_[at].text;
      const bool opens = text == "[" || text == "{" || text == "<";
      if (depth == 1 && (TextAt(at - 1) == "[" || TextAt(at - 1) == ",") && text != "]")
        lines.push_back(words_[at].line);
      if (opens) ++depth;
      if ((text == "]" || text == "}" || text == ">") && --depth == 0) break;
    }
    return lines;
  }

 private:
  std::string TextAt(size_t at) const { return at < words_.size() ? words_[at].text : ""; }

  std::vector<Tokenizer::Token> words_;
};

class LineCollector {
 public:
  LineCollector(const std::string& text, std::map<std::string, int>* lines)
      : words_(text), lines_(lines) {}

  void Collect(const Message& message, const TextFormat::ParseInfoTree& tree,
               const std::string& prefix) {
    std::vector<const FieldDescriptor*> fields;
    message.GetReflection()->ListFields(message, &fields);
    for (const FieldDescriptor* field : fields) {
      const std::string path = absl::StrCat(prefix, field->name());
      if (!field->is_repeated()) {
        Add(path, tree.GetLocation(field, -1).line);
        if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
        Descend(message.GetReflection()->GetMessage(message, field),
                tree.GetTreeForNested(field, -1), path);
        continue;
      }
      const int size = message.GetReflection()->FieldSize(message, field);
      const std::vector<int> lines = LinesOf(tree, field);
      for (int i = 0; i < size; ++i) {
        const std::string element = absl::StrCat(path, "[", i, "]");
        if (static_cast<int>(lines.size()) == size) Add(element, lines[static_cast<size_t>(i)]);
        if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
        Descend(message.GetReflection()->GetRepeatedMessage(message, field, i),
                tree.GetTreeForNested(field, i), element);
      }
    }
  }

 private:
  // Of all values of a repeated field. The parser knows where its name stands; brackets after it
  // hold several values.
  std::vector<int> LinesOf(const TextFormat::ParseInfoTree& tree,
                           const FieldDescriptor* field) const {
    std::vector<int> lines;
    for (int i = 0; tree.GetLocation(field, i).line >= 0; ++i) {
      const std::vector<int> values = words_.LinesOfValues(tree.GetLocation(field, i));
      lines.insert(lines.end(), values.begin(), values.end());
    }
    return lines;
  }

  void Add(const std::string& path, int line) {
    if (line >= 0) (*lines_)[path] = line + 1;
  }

  void Descend(const Message& message, const TextFormat::ParseInfoTree* tree,
               const std::string& path) {
    if (tree != nullptr) Collect(message, *tree, absl::StrCat(path, "."));
  }

  const Words words_;
  std::map<std::string, int>* const lines_;
};

}  // namespace

absl::Status SpecSource::Error(absl::string_view path, absl::string_view problem) const {
  std::string place = name;
  const auto line = lines.find(std::string(path));
  if (line != lines.end()) absl::StrAppend(&place, ":", line->second);
  return absl::InvalidArgumentError(
      absl::StrCat(place, ": ", path, path.empty() ? "" : ": ", problem));
}

absl::StatusOr<SpecSource> ParseSpec(const std::string& name, const std::string& text) {
  SpecSource source;
  source.name = name;
  source.text = text;
  FirstError errors(name);
  TextFormat::ParseInfoTree tree;
  TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.WriteLocationsTo(&tree);
  if (!parser.ParseFromString(text, &source.spec)) {
    return absl::InvalidArgumentError(
        errors.text().empty() ? absl::StrCat(name, ": is no spec of a sweep") : errors.text());
  }
  LineCollector(text, &source.lines).Collect(source.spec, tree, "");
  return source;
}

}  // namespace ringside
