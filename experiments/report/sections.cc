#include "experiments/report/sections.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "experiments/report/ceiling_table.h"
#include "experiments/report/ceilings.h"
#include "experiments/report/crossovers.h"
#include "experiments/report/forecast_tables.h"
#include "experiments/report/headline.h"
#include "experiments/report/learning_figures.h"
#include "experiments/report/network_table.h"
#include "experiments/report/number_text.h"
#include "experiments/report/process_tables.h"
#include "experiments/report/result_tables.h"
#include "experiments/report/scaling_table.h"
#include "experiments/report/shard_tables.h"
#include "experiments/report/skew_sentences.h"
#include "experiments/report/skew_tables.h"
#include "experiments/report/training_time.h"

namespace ringside {
namespace {

Block OfKind(Block::Kind kind) {
  Block block;
  block.kind = kind;
  return block;
}

Block TableBlock(const std::string& label, Table table, const std::string& note = "") {
  Block block = OfKind(Block::Kind::kTable);
  block.label = label;
  block.table = std::move(table);
  block.note = note;
  return block;
}

Block WideTextBlock(const std::string& label, Table table) {
  Block block = TableBlock(label, std::move(table));
  block.kind = Block::Kind::kWideText;
  return block;
}

Block FiguresBlock(const std::vector<std::string>& names) {
  Block block = OfKind(Block::Kind::kFigures);
  block.names = names;
  return block;
}

// For tables of few columns and for sentences: next to the figures before them, where there is
// room.
Block Beside(Block block) {
  block.beside = true;
  return block;
}

Block SentencesBlock(const std::vector<std::string>& sentences) {
  Block block = OfKind(Block::Kind::kSentences);
  block.sentences = sentences;
  return block;
}

Section Gates(const ComparisonResult& comparison) {
  Section section;
  section.id = "gates";
  section.title =
      comparison.runs_size() == 1 ? "Can this run be trusted?" : "May these runs be compared?";
  section.lead =
      "Every one of these checks must pass before anything may be concluded from the numbers.";
  section.blocks = {
      OfKind(Block::Kind::kGates),
      TableBlock("Hashes of the final parameters", EquivalenceTable(comparison),
                 "Every run hashes its final parameters. One hash for a number of workers means "
                 "that only the way gradients meet has differed. Exempt are runs whose bits depend "
                 "on timing or rounding. The last column compares the losses of all steps.")};
  return section;
}

Section Speed(const ComparisonResult& comparison) {
  return {
      "speed",
      "Speed and scaling",
      "",
      {FiguresBlock({"throughput", "efficiency"}),
       TableBlock("Speed and scaling", ScalingTable(comparison),
                  "Samples/s and p50: median over the counted steps of all trials, with the "
                  "interval that holds it with 95 % confidence. Per host and per core: samples/s "
                  "over the hosts with a process on them, and over the cores that processes may "
                  "use. Efficiency: speed-up over the ratio of workers. p90, p99: a tenth and a "
                  "hundredth of the steps took longer. CV: how far the trials' medians scatter; "
                  "above 5 % is noisy.")}};
}

Section TrainingTime(const ComparisonResult& comparison) {
  return {"training",
          "Total training time",
          "",
          {FiguresBlock({"training_time"}),
           Beside(TableBlock(
               "Total training time", TrainingTimeTable(comparison),
               "From the barrier before the first step to the end of the last, of the slowest "
               "rank, warm-up and saving included; start-up and evaluation are not. Training "
               "stands still while its state is copied and while the write before has not "
               "ended; the write itself goes on behind."))}};
}

Section Step(const ComparisonResult& comparison) {
  Table breakdown = BreakdownTable(comparison);
  if (breakdown.empty()) return {};
  Block figures = FiguresBlock({"breakdown"});
  return {"step",
          "Where a step goes",
          "The parts add up to the step.",
          {figures, OfKind(Block::Kind::kStepParts),
           TableBlock("Parts of the mean step", std::move(breakdown),
                      "Mean over counted steps and ranks, with the share of the step. Hidden "
                      "communication is none of the parts.")}};
}

Section Wire(const ComparisonResult& comparison) {
  return {"wire",
          "Bytes and messages",
          "What one process moves in one step, counted where it is written and read, against what "
          "the plan of buckets says it must be.",
          {TableBlock("Traffic by role", WireTable(comparison),
                      "Sent, received: payload, mean over processes, runs and steps; headers are "
                      "apart. Counted ÷ formula: payload both ways, and messages both ways. "
                      "Imbalance: the busiest process over the mean; 1 is even."),
           SentencesBlock(CeilingSentences(comparison)),
           TableBlock("Payload against the ceilings", CeilingTable(comparison),
                      absl::StrCat("Reached: payload of a step over the time in which it can have "
                                   "travelled, by the process that came nearest to its ceiling. "
                                   "Ceiling: of an emulated link what a probe got, of shared "
                                   "memory a copy within one core's cache. Above ",
                                   Percent(1 + kCeilingTolerance, 0),
                                   " bytes or times are not what they are said to be."))}};
}

Section Processes(const ComparisonResult& comparison) {
  return {"processes",
          "Processor and memory",
          "",
          {TableBlock("Processor time and memory by role", ProcessTable(comparison),
                      "CPU time: user and system time of a process, mean over processes. Peak "
                      "memory: resident set of the largest process.")}};
}

Section Shards(const ComparisonResult& comparison) {
  return {
      "shards",
      "Inside the servers",
      "Where the time of one shard goes. Frames wait for their turn, are folded, and each unit "
      "that is complete is sent to whom it is due.",
      {TableBlock("Times, updates and balance of the shards", ShardTable(comparison),
                  "Queue: from a frame's arrival to its turn, mean. Fold: checking and adding, "
                  "and the optimizer where the shard runs it, per step. Serialise: building and "
                  "handing out replies, per step. Reply: from a unit's completion to the end of "
                  "its last write, mean.")}};
}

Section SkewSection(const ComparisonResult& comparison) {
  return {
      "skew",
      "Who waits for whom",
      "A step takes everybody as long as the slowest, so that step times cannot tell who it was. "
      "Arrivals can: a rank arrives when it has handed over the last of its gradients, and before "
      "all have, nobody has the sums.",
      {FiguresBlock({"skew"}), Beside(SentencesBlock(SlowRankSentences(comparison))),
       TableBlock("Skew between ranks", SkewTable(comparison),
                  "First to last: from the first rank that hands over a bucket to the last, median "
                  "of the steps, on one clock; ±: by what the clocks of two ranks may differ, "
                  "where they are not the same. Where ranks are not in step, their own work is "
                  "compared instead. Own work: batch, forward, backward and optimizer; waiting: "
                  "exposed communication; means of the ranks with least and most. Slow: 5 % of a "
                  "step later than the median of the others, and more than clocks may differ. "
                  "Chronically: in half of the steps, in most trials. At times: steps in which "
                  "other ranks were slow."),
       TableBlock("Ranks that were slow at times", SlowSpellTable(comparison),
                  absl::StrCat("A row for each trial and rank, those that cost most, at most ",
                               kSlowSpells, "."))}};
}

Section Network(const ComparisonResult& comparison) {
  return {
      "network",
      "The network: asked and got",
      "Processes met over emulated links, which were measured before every run.",
      {TableBlock("Emulated networks", NetworkTable(comparison),
                  "Got: median of the probes of all links, least to most behind it. Frames of "
                  "Ethernet are shaped, so that payload gets a few per cent less than was asked "
                  "for. A round trip takes twice the latency, and what the machine adds.")}};
}

Section Sensitivity(const ComparisonResult& comparison) {
  std::vector<std::string> crossovers;
  for (const Crossover& crossover : comparison.crossovers()) {
    crossovers.push_back(absl::StrCat(CrossoverText(crossover), "."));
  }
  return {"sensitivity",
          "What it depends on",
          "",
          {SentencesBlock(crossovers), FiguresBlock({"sensitivity*"})}};
}

Section Learning(const ComparisonResult& comparison) {
  return {
      "learning",
      "Learning",
      "",
      {FiguresBlock({"loss", "loss_time", "staleness"}),
       TableBlock("Time to the same loss", TargetTable(comparison),
                  "Target: the lowest loss, rounded up to two digits, that every run reaches; a "
                  "single step is noisy, so the mean of up to 20 steps counts. Time: of the "
                  "steps alone."),
       TableBlock("Accuracy on the test set", EvaluationTable(comparison)),
       TableBlock("Staleness of what was pushed", StalenessTable(comparison),
                  "By how many updates of others a unit had moved since its worker was sent "
                  "it.")}};
}

Section ModelSection(const ComparisonResult& comparison) {
  Section section = {
      "model",
      "Model and forecast",
      "A formula for each strategy, with parameters fitted to some of the "
      "measurements. Those that were held out test it.",
      {SentencesBlock(ForecastSentences(comparison)), FiguresBlock({"forecast*"}),
       Beside(TableBlock("Parameters of the cost model", ModelTable(comparison))),
       TableBlock("Forecast step times", ForecastTable(comparison),
                  "Formula: docs/metrics.md, Cost model. Simulated: by the "
                  "discrete-event simulator of the same schedules. Error: formula "
                  "over measured median, less 1. Efficiency: foretold samples/s over "
                  "workers times those of one.")}};
  if (!comparison.has_forecast()) section.blocks.clear();
  return section;
}

Section Again(const ComparisonResult& comparison) {
  Section section = {"command", "Run it again", "", {}};
  const std::string command = CommandLineText(comparison);
  if (command.empty()) return section;
  Block block = OfKind(Block::Kind::kCommand);
  block.sentences = {command};
  section.blocks = {block};
  return section;
}

bool Empty(const Block& block) {
  switch (block.kind) {
    case Block::Kind::kTable:
    case Block::Kind::kWideText:
      return block.table.empty();
    case Block::Kind::kFigures:
      return block.names.empty();
    case Block::Kind::kSentences:
    case Block::Kind::kCommand:
      return block.sentences.empty();
    case Block::Kind::kStepParts:
    case Block::Kind::kGates:
      return false;
  }
  return false;
}

}  // namespace

std::vector<Section> Sections(const ComparisonResult& comparison) {
  std::vector<Section> sections = {
      Gates(comparison),       Speed(comparison),       TrainingTime(comparison),
      Step(comparison),        Wire(comparison),        Processes(comparison),
      Shards(comparison),      SkewSection(comparison), Network(comparison),
      Sensitivity(comparison), Learning(comparison),    ModelSection(comparison)};
  sections.push_back({"provenance",
                      "Where this was measured",
                      "",
                      {WideTextBlock("Machine and versions", ProvenanceTable(comparison))}});
  sections.push_back(Again(comparison));
  sections.push_back(
      {"settings",
       "Settings",
       "Every setting, defaults included; values that differ between runs are listed.",
       {WideTextBlock("Settings", SettingsTable(comparison))}});
  for (Section& section : sections) {
    section.blocks.erase(std::remove_if(section.blocks.begin(), section.blocks.end(), Empty),
                         section.blocks.end());
  }
  sections.erase(std::remove_if(sections.begin(), sections.end(),
                                [](const Section& section) { return section.blocks.empty(); }),
                 sections.end());
  return sections;
}

}  // namespace ringside
