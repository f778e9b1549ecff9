// What must hold before two strategies may be compared at all. Pure functions.
//
// A gate that fails names the first thing that is wrong with it, so that one knows where to look.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_GATES_H_
#define RINGSIDE_EXPERIMENTS_REPORT_GATES_H_

#include <vector>

#include "results.pb.h"

namespace ringside {

// There is a run; every run has every rank and shard once, with every step once (or as run_steps.h
// allows); every strategy was
// run at every number of workers, and all but the oracle equally often. Rings count by the schedule
// that was asked for: with --schedule=auto some may have come out as direct and others as ring.
Gate CompletenessGate(const std::vector<RunResult>& runs);

// Runs differ in strategy and schedule, mode and link of the parameter server, workers, shards,
// batch, trial, folders and deadlines alone: same model, data, seed, optimizer, threads, frames,
// build and machine; at one number of workers also the same global batch, steps and cores.
Gate SettingsGate(const std::vector<RunResult>& runs);

// All ranks of a run start and end with the same bits, and so do all runs with the same workers and
// global batch, but for those that bit_equality.h exempts: the detail then names them.
Gate EquivalenceGate(const std::vector<RunResult>& runs);

// Every worker and shard counted exactly the bytes and messages of its formula, and all workers
// together those of WorkersPayloadBytes.
Gate TrafficGate(const std::vector<RunResult>& runs);

// The four above, in this order.
std::vector<Gate> AllGates(const std::vector<RunResult>& runs);

// Hashes as people compare them: the first 12 digits.
std::string ShortHash(const std::string& hash);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_GATES_H_
