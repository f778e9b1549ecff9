#include "experiments/report/step_parts.h"

#include <algorithm>

namespace ringside {

const std::vector<StepPart>& StepParts() {
  static const auto* parts = new std::vector<StepPart>{
      {"Data", "data_s", "Making the batch ready.", "#a9b1ba",
       [](const StepRecord& step) { return step.data_s(); }},
      {"Forward", "forward_s", "From the batch to its loss.", "#62b5a6",
       [](const StepRecord& step) { return step.forward_s(); }},
      {"Backward", "backward_s",
       "From the loss to the gradients. Buckets travel meanwhile: see hidden communication.",
       "#25807a", [](const StepRecord& step) { return step.backward_s(); }},
      {"Exposed communication", "exposed_comm_s",
       "From the end of the backward pass until all sums are there, waiting for slower ranks "
       "included.",
       "#cf3f6c", [](const StepRecord& step) { return step.exposed_comm_s(); }},
      {"Optimizer", "optimizer_s", "Applying the mean gradient to the parameters.", "#8d72c9",
       [](const StepRecord& step) { return step.optimizer_s(); }},
      {"Other", "other_s", "What the parts above leave of the step.", "#747d87",
       [](const StepRecord& step) { return step.other_s(); }},
  };
  return *parts;
}

const StepPart& WaitForSlowest() {
  static const auto* wait = new StepPart{
      "Waiting for the slowest", "wait_slowest_s",
      "The first share of exposed communication: until the rank with the most to compute had its "
      "gradients ready.",
      "#7d1d3f", [](const StepRecord& step) { return step.wait_slowest_s(); }};
  return *wait;
}

bool AnyWaitForSlowest(const ComparisonResult& comparison) {
  return std::any_of(comparison.cells().begin(), comparison.cells().end(),
                     [](const Cell& cell) { return cell.mean_step().wait_slowest_s() > 0; });
}

const StepPart& HiddenCommunication() {
  static const auto* hidden = new StepPart{
      "Hidden communication", "hidden_comm_s",
      "While the backward pass ran: buckets were under way, waiting for slower ranks included. It "
      "adds nothing to the step, but may slow the backward pass.",
      "#eba3ba", [](const StepRecord& step) { return step.hidden_comm_s(); }};
  return *hidden;
}

}  // namespace ringside
