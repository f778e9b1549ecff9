#include "common/provenance.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(ProvenanceTest, SaysWhichBuildOnWhichMachine) {
  const Provenance provenance = ReadProvenance(absl::UnixEpoch() + absl::Seconds(1));
  EXPECT_EQ(provenance.started_at(), "1970-01-01T00:00:01Z");
  EXPECT_FALSE(provenance.build_commit().empty());
  EXPECT_FALSE(provenance.compiler().empty());
  EXPECT_FALSE(provenance.kernel().empty());
  EXPECT_GE(provenance.cores(), 1);
  EXPECT_GT(provenance.memory_bytes(), int64_t{1} << 20);
  EXPECT_EQ(provenance.versions().count("Protobuf"), 1u);
  EXPECT_EQ(provenance.versions().count("Abseil"), 1u);
}

}  // namespace
}  // namespace ringside
