#include <fmt/format.h>

#include "cli/submit/request.hpp"

namespace sy::cli {

namespace {

std::int64_t total(const std::vector<model::GresRequest>& list) {
  std::int64_t n = 0;
  for (const auto& gres : list)
    if (gres.name == "gpu") n += gres.count;
  return n;
}

// --mem-per-gpu as memory per node: GPUs on a node are known from one of four options.
base::Result<void> memory_of_gpus(SubmitRequest& request) {
  auto& group = request.group();
  std::int64_t gpus = total(group.gres_per_node);
  if (gpus == 0 && total(group.gres_per_task) > 0) {
    std::int64_t tasks = group.tasks_per_node;
    if (tasks == 0 && group.tasks_given) tasks = group.nodes_given ? (group.tasks + group.nodes.min - 1) / group.nodes.min : group.tasks;
    gpus = total(group.gres_per_task) * std::max<std::int64_t>(tasks, 1);
  }
  if (gpus == 0 && total(group.gres_per_job) > 0) {
    const std::int64_t nodes = group.nodes_given ? group.nodes.min : 1;
    gpus = (total(group.gres_per_job) + nodes - 1) / nodes;
  }
  if (gpus == 0)
    return base::fail(base::Error{base::Code::invalid_argument,
                                  "memory per GPU is asked for, but no GPUs",
                                  "--mem-per-gpu",
                                  {},
                                  {},
                                  "add --gpus-per-node, --gpus, --gpus-per-task or --gres=gpu:N"});
  group.memory_per_node = *request.memory_per_gpu * gpus;
  return {};
}

}  // namespace

base::Result<void> finish(SubmitRequest& request) {
  auto& group = request.group();
  group.gres_per_node.clear();
  // --gpus-per-node speaks for the GPUs; --gres for everything else.
  for (const auto& gres : request.gres)
    if (request.gpus_per_node.empty() || gres.name != "gpu") group.gres_per_node.push_back(gres);
  for (const auto& gres : request.gpus_per_node) group.gres_per_node.push_back(gres);

  if (request.memory_per_gpu)
    if (auto done = memory_of_gpus(request); !done) return done;

  if (request.spread_segments || request.consolidate_segments) {
    if (group.segments.empty())
      return base::fail(base::Error{base::Code::invalid_argument,
                                    "there are no segments to arrange",
                                    request.spread_segments ? "--spread-segments" : "--consolidate-segments",
                                    {},
                                    {},
                                    "add --segment=N"});
    if (request.spread_segments && request.consolidate_segments)
      return base::fail(base::Error{base::Code::invalid_argument,
                                    "segments can not be both spread and consolidated",
                                    "--spread-segments",
                                    {},
                                    {},
                                    "keep one of --spread-segments and --consolidate-segments"});
    for (auto& segment : group.segments) {
      segment.distinct = request.spread_segments;
      segment.consolidate = request.consolidate_segments;
    }
  }
  if (request.spec.time_min && request.spec.time_limit && *request.spec.time_min > *request.spec.time_limit)
    return base::fail(base::Error{base::Code::invalid_argument,
                                  "the least time limit is above the time limit",
                                  "--time-min",
                                  {},
                                  {},
                                  "lower --time-min or raise --time"});
  return {};
}

}  // namespace sy::cli
