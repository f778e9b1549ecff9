#include "tests/worker/models/reference_exchange.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ringside {
namespace {

// A shell's python3 need not be the one of the system's packages.
const std::string& Python() {
  static const auto* const python = [] {
    for (const char* each : {"python3", "/usr/bin/python3"}) {
      // Whether it is there, not the two seconds of loading it.
      const std::string command = absl::StrCat(
          each,
          " -c 'import importlib.util, sys; sys.exit(not importlib.util.find_spec(\"torch\"))'",
          " >/dev/null 2>&1");
      if (std::system(command.c_str()) == 0) return new std::string(each);
    }
    return new std::string;
  }();
  return *python;
}

template <typename Number>
void WriteNumbers(const std::vector<Number>& values, std::ofstream* out) {
  out->write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(Number)));
}

template <typename Number>
void ReadNumbers(std::ifstream* in, std::vector<Number>* values) {
  in->read(reinterpret_cast<char*>(values->data()),
           static_cast<std::streamsize>(values->size() * sizeof(Number)));
}

// `folder`/`name`.txt has a line "name type extent..." for each tensor of `folder`/`name`.bin.
void WriteTensors(const std::string& path, const NamedTensors& tensors) {
  std::ofstream list(path + ".txt");
  std::ofstream data(path + ".bin", std::ios::binary);
  for (const auto& [name, tensor] : tensors) {
    list << name << (tensor.integers.empty() ? " float32 " : " int64 ")
         << absl::StrJoin(tensor.shape, " ") << "\n";
    WriteNumbers(tensor.floats, &data);
    WriteNumbers(tensor.integers, &data);
  }
}

NamedTensors ReadTensors(const std::string& path) {
  NamedTensors tensors;
  std::ifstream list(path + ".txt");
  std::ifstream data(path + ".bin", std::ios::binary);
  std::string line;
  while (std::getline(list, line)) {
    std::istringstream words(line);
    std::string name, type;
    words >> name >> type;
    NamedTensor& tensor = tensors[name];
    int64_t elements = 1;
    for (int64_t extent = 0; words >> extent; elements *= extent) tensor.shape.push_back(extent);
    if (type == "int64") {
      tensor.integers.resize(elements);
      ReadNumbers(&data, &tensor.integers);
    } else {
      tensor.floats.resize(elements);
      ReadNumbers(&data, &tensor.floats);
    }
  }
  return tensors;
}

}  // namespace

void ReferenceRequest::AddParameters(const std::vector<ParameterSpec>& specs,
                                     absl::Span<const float> values) {
  for (const ParameterSpec& spec : specs) {
    const auto own = values.subspan(0, spec.elements());
    tensors["p:" + spec.name] = {spec.shape, {own.begin(), own.end()}, {}};
    values.remove_prefix(spec.elements());
  }
}

std::string NoReferenceBecause() {
  return Python().empty() ? "no python3 with torch (Debian's package python3-torch)" : "";
}

NamedTensors AskReference(const ReferenceRequest& request) {
  std::string folder = absl::StrCat(testing::TempDir(), "/reference.XXXXXX");
  EXPECT_NE(mkdtemp(folder.data()), nullptr) << folder;
  WriteTensors(folder + "/request", request.tensors);
  std::ofstream(folder + "/sizes.txt")
      << absl::StrJoin(request.sizes, "\n", absl::PairFormatter(" ")) << "\n";
  const std::string log = folder + "/log.txt";
  const int status = std::system(
      absl::StrCat(Python(), " ", RINGSIDE_REFERENCE_SCRIPT, " ", folder, " >", log, " 2>&1")
          .c_str());
  std::stringstream said;
  said << std::ifstream(log).rdbuf();
  EXPECT_EQ(status, 0) << said.str();
  NamedTensors answer = ReadTensors(folder + "/answer");
  EXPECT_EQ(std::system(absl::StrCat("rm -r ", folder).c_str()), 0);
  return answer;
}

void ExpectNear(const std::string& name, absl::Span<const float> own, const NamedTensors& answer,
                double relative) {
  const auto found = answer.find(name);
  ASSERT_NE(found, answer.end()) << "no answer about " << name;
  const std::vector<float>& reference = found->second.floats;
  ASSERT_EQ(own.size(), reference.size()) << name;
  double scale = 0, worst = 0;
  for (size_t i = 0; i < own.size(); ++i) {
    ASSERT_TRUE(std::isfinite(own[i])) << name << "[" << i << "]";
    scale = std::max<double>({scale, std::abs(own[i]), std::abs(reference[i])});
    worst = std::max<double>(worst, std::abs(own[i] - reference[i]));
  }
  EXPECT_LE(worst, relative * scale) << name << ", whose largest value is " << scale;
}

}  // namespace ringside
