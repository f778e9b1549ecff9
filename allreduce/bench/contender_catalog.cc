#include "allreduce/bench/contender_catalog.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

Contender Own(const char* name, const char* link, const char* schedule, const char* ceiling) {
  Contender contender;
  contender.name = name;
  contender.group = "own";
  contender.variant = link;
  contender.schedule = schedule;
  contender.ceiling = ceiling;
  return contender;
}

Contender Ceiling(const char* name, Contender::Kind kind, const char* transport) {
  Contender contender;
  contender.name = name;
  contender.kind = kind;
  contender.group = "own";
  contender.variant = transport;
  return contender;
}

Contender Gloo(const std::string& algorithm, const std::string& suffix) {
  Contender contender;
  contender.name = absl::StrCat("gloo_", algorithm, suffix);
  contender.kind = Contender::Kind::kGloo;
  contender.group = absl::StrCat("gloo", suffix);
  contender.variant = algorithm;
  contender.ceiling = "raw_tcp";
  contender.in_place = true;
  contender.even_ranks_only = algorithm == "bcube";
  return contender;
}

Contender Mpi(const std::string& name, const std::string& group, const std::string& suffix,
              const char* ceiling) {
  Contender contender;
  contender.name = absl::StrCat(name, suffix);
  contender.kind = Contender::Kind::kMpi;
  contender.group = absl::StrCat(group, suffix);
  contender.ceiling = ceiling;
  contender.arenas = name != "mpi_heap";
  return contender;
}

std::vector<Contender> MakeCatalog() {
  using Kind = Contender::Kind;
  std::vector<Contender> all = {
      Ceiling("raw_tcp", Kind::kRawExchange, "tcp"),
      Ceiling("raw_uds", Kind::kRawExchange, "uds"),
      Ceiling("memory", Kind::kMemory, ""),
      Own("ring_tcp", "tcp", "ring", "raw_tcp"),
      Own("ring_uds", "uds", "ring", "raw_uds"),
      Own("ring_shm", "shm", "ring", "memory"),
      Own("ring_shm_unregistered", "shm", "ring", "memory"),
      Own("direct", "shm", "direct", "memory"),
      Own("auto", "auto", "auto", "memory"),
  };
  for (Contender& contender : all) {
    if (contender.name == "ring_shm_unregistered") contender.arenas = false;
  }
  for (const char* suffix : {"", "_stock"}) {
    for (const char* algorithm : {"ring", "ring_chunked", "bcube"}) {
      all.push_back(Gloo(algorithm, suffix));
    }
    all.push_back(Mpi("mpi", "mpi", suffix, "memory"));
    all.push_back(Mpi("mpi_heap", "mpi", suffix, "memory"));
    all.push_back(Mpi("mpi_tcp", "mpi_tcp", suffix, "raw_tcp"));
  }
  return all;
}

const std::vector<Contender>& Catalog() {
  static const auto* catalog = new std::vector<Contender>(MakeCatalog());
  return *catalog;
}

bool IsBuilt(const Contender& contender, const BuiltBaselines& built) {
  if (contender.kind == Contender::Kind::kGloo) return built.gloo;
  return contender.kind != Contender::Kind::kMpi || built.mpi;
}

absl::Status NotBuilt(const Contender& contender) {
  const bool gloo = contender.kind == Contender::Kind::kGloo;
  return absl::InvalidArgumentError(absl::StrCat(
      "--contenders: ", contender.name, " is not in this build, which was configured without ",
      gloo ? "Gloo; install libgloo-dev and set -DRINGSIDE_GLOO=ON"
           : "Open MPI; install libopenmpi-dev and openmpi-bin and set -DRINGSIDE_MPI=ON"));
}

// What an empty list means: each way of ours and each library in its best form.
std::vector<std::string> DefaultNames(const BuiltBaselines& built) {
  std::vector<std::string> names = {"ring_tcp", "ring_uds", "ring_shm", "direct", "auto"};
  if (built.gloo) names.push_back("gloo");
  if (built.mpi) names.insert(names.end(), {"mpi", "mpi_tcp"});
  return names;
}

std::vector<std::string> Expand(const std::string& name) {
  for (const char* suffix : {"", "_stock"}) {
    if (name != absl::StrCat("gloo", suffix)) continue;
    return {absl::StrCat("gloo_ring", suffix), absl::StrCat("gloo_ring_chunked", suffix),
            absl::StrCat("gloo_bcube", suffix)};
  }
  return {name};
}

}  // namespace

absl::StatusOr<Contender> FindContender(absl::string_view name) {
  for (const Contender& contender : Catalog()) {
    if (contender.name == name) return contender;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--contenders: unknown contender \"", name, "\"; there are gloo, gloo_stock, ",
      absl::StrJoin(Catalog(), ", ",
                    [](std::string* out, const Contender& each) { out->append(each.name); })));
}

RankGroupKind FindGroup(absl::string_view name) {
  RankGroupKind group;
  group.name = std::string(name);
  group.tuned_malloc = !absl::EndsWith(name, "_stock");
  group.mpirun = absl::StartsWith(name, "mpi");
  group.mpi_over_tcp = absl::StartsWith(name, "mpi_tcp");
  return group;
}

absl::StatusOr<std::vector<Contender>> SelectContenders(const std::vector<std::string>& names,
                                                        const BuiltBaselines& built) {
  std::vector<Contender> selected;
  std::vector<Contender> ceilings;
  const auto add_once = [](const Contender& contender, std::vector<Contender>* to) {
    const bool there = std::any_of(to->begin(), to->end(), [&contender](const Contender& each) {
      return each.name == contender.name;
    });
    if (!there) to->push_back(contender);
  };
  for (const std::string& asked : names.empty() ? DefaultNames(built) : names) {
    for (const std::string& name : Expand(asked)) {
      RINGSIDE_ASSIGN_OR_RETURN(const Contender contender, FindContender(name));
      if (!IsBuilt(contender, built)) return NotBuilt(contender);
      add_once(contender, contender.is_ceiling() ? &ceilings : &selected);
      if (contender.ceiling.empty()) continue;
      RINGSIDE_ASSIGN_OR_RETURN(const Contender ceiling, FindContender(contender.ceiling));
      add_once(ceiling, &ceilings);
    }
  }
  ceilings.insert(ceilings.end(), selected.begin(), selected.end());
  return ceilings;
}

}  // namespace ringside
