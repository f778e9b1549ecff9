// What must hold before two strategies may be compared at all. Pure functions.
//
// A gate that fails names the first thing that is wrong with it, so that one knows where to look.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_GATES_H_
#define RINGSIDE_EXPERIMENTS_REPORT_GATES_H_

#include <string>
#include <vector>

#include "experiments/report/point.h"
#include "results.pb.h"

namespace ringside {

// There is a run; every run has every rank and shard once, with every step once (or as run_steps.h
// allows); and but for sweeps there are no GridGaps
// (run_grid.h).
Gate CompletenessGate(const std::vector<RunResult>& runs, const PointSpace& space = {});

// Runs differ in strategy and schedule, mode and link of the parameter server, workers, shards,
// batch, trial, folders, deadlines and what `space` varies alone: same model, data, seed, precision
// and wire dtype, optimizer, threads, frames, build and machine; at one number of workers and point
// also the same global batch, steps and cores. Settings that a strategy takes no notice of are its
// own. `allow_unequal`: what differs is told, and the gate passes.
Gate SettingsGate(const std::vector<RunResult>& runs, const PointSpace& space = {},
                  bool allow_unequal = false);
// Passed because differences were allowed.
bool AllowedToDiffer(const Gate& gate);

// Settings, and facts on build and machine (comparability.h), that differ between runs of one
// strategy at one number of workers: a cell must not mix them.
std::vector<std::string> SplittingSettings(const std::vector<RunResult>& runs,
                                           const PointSpace& space);

// All ranks of a run start and end with the same bits, and so do all runs with the same workers,
// global batch and settings that decide bits, but for those that bit_equality.h exempts: the detail
// then names them.
Gate EquivalenceGate(const std::vector<RunResult>& runs);

// Every worker and shard counted exactly the bytes and messages of its formula, and all workers
// together those of WorkersPayloadBytes.
Gate TrafficGate(const std::vector<RunResult>& runs);

// No process moved payload faster than its link can (ceilings.h), but for kCeilingTolerance. Passes
// where no ceiling is known, and says so; the detail names who came nearest to its ceiling.
Gate CeilingsGate(const std::vector<RunResult>& runs);

struct GateRules {
  PointSpace space;  // in which cells are made
  PointSpace asked;  // what the experiment says that it varies; `space` may have more where it may
  bool allow_unequal = false;
};

// Completeness, settings, equivalence, traffic and ceilings.
std::vector<Gate> AllGates(const std::vector<RunResult>& runs, const GateRules& rules = {});

// Hashes as people compare them: the first 12 digits.
std::string ShortHash(const std::string& hash);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_GATES_H_
