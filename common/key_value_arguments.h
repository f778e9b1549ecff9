// The value of a flag of the form "key=value,key=value", such as --dataset_args. A value may be a
// list: what has no '=' goes on with the key before, as in "hidden=256,128,classes=10".
//
// Its owner names the keys it has, one call each, and then asks Finish whether all was well:
//
//   int64_t rows = 224;
//   KeyValueArguments arguments("dataset_args", "--dataset=voc", text);
//   arguments.Integer("rows", 1, &rows);
//   RINGSIDE_RETURN_IF_ERROR(arguments.Finish());
//
// Thread-compatible.
#ifndef RINGSIDE_COMMON_KEY_VALUE_ARGUMENTS_H_
#define RINGSIDE_COMMON_KEY_VALUE_ARGUMENTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ringside {

class KeyValueArguments {
 public:
  // `flag` (without dashes) and `owner`, whose keys they are, appear in errors.
  KeyValueArguments(absl::string_view flag, absl::string_view owner, absl::string_view text);

  // Each overwrites `*value`, the default, where the key is given. An integer must be at least
  // `least`, a number finite and at least `least`, a probability in [0, 1), each number of a list
  // at least `least`, a choice one of `choices`; an empty list is "key=".
  void Integer(absl::string_view key, int64_t least, int64_t* value);
  void Number(absl::string_view key, double least, double* value);
  void Text(absl::string_view key, std::string* value);
  void Choice(absl::string_view key, const std::vector<std::string>& choices, std::string* value);
  void Probability(absl::string_view key, double* value);
  void Integers(absl::string_view key, int64_t least, std::vector<int64_t>* values);

  // INVALID_ARGUMENT: the first of a text that begins without a key, a key that is given twice, a
  // bad value, a key that nobody asked for. Names the key, its owner and the keys there are.
  absl::Status Finish() const;

 private:
  // Where the key is given, returns its value; marks it as known.
  const std::string* Take(absl::string_view key);
  void Fail(absl::string_view argument, absl::string_view problem);

  const std::string flag_;
  const std::string owner_;
  std::map<std::string, std::string> given_;
  std::vector<std::string> known_;
  std::string first_problem_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_KEY_VALUE_ARGUMENTS_H_
