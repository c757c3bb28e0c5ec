#include "cli/state_names.hpp"

#include <fmt/format.h>

#include <array>

#include "base/option_table.hpp"
#include "cli/text.hpp"

namespace sy::cli {

namespace {

struct Name {
  std::string_view name, compact, ours;  // ours: comma-joined; empty: never occurs here
};

// In Slurm's order of base states, then its flags.
constexpr std::array<Name, 28> names{{
    {"PENDING", "PD", "pending"},
    {"RUNNING", "R", "running,lost"},
    {"SUSPENDED", "S", "suspended"},
    {"COMPLETED", "CD", "completed"},
    {"CANCELLED", "CA", "cancelled"},
    {"FAILED", "F", "failed"},
    {"TIMEOUT", "TO", "timeout"},
    {"NODE_FAIL", "NF", "node_fail"},
    {"PREEMPTED", "PR", "preempted"},
    {"BOOT_FAIL", "BF", "boot_fail"},
    {"DEADLINE", "DL", "deadline"},
    {"OUT_OF_MEMORY", "OOM", "out_of_memory"},
    {"COMPLETING", "CG", "ending"},
    {"CONFIGURING", "CF", "starting"},
    {"LAUNCH_FAILED", "LF", "launch_failed"},
    {"REQUEUED", "RQ", "requeued"},
    {"REQUEUE_HOLD", "RH", ""},
    {"REQUEUE_FED", "RF", ""},
    {"SPECIAL_EXIT", "SE", ""},
    {"RESIZING", "RS", ""},
    {"RESV_DEL_HOLD", "RD", ""},
    {"SIGNALING", "SI", ""},
    {"STAGE_OUT", "SO", ""},
    {"STOPPED", "ST", ""},
    {"REVOKED", "RV", ""},
    {"EXPEDITING", "EX", ""},
    {"POWER_UP_NODE", "PU", ""},
    {"RECONFIG_FAIL", "RCF", ""},
}};

}  // namespace

base::Result<StateFilter> parse_states(std::string_view list) {
  StateFilter filter;
  for (const auto& word : split_list(list)) {
    const std::string wanted = upper(word);
    if (wanted == "ALL") {
      filter.all = true;
      continue;
    }
    const Name* found = nullptr;
    for (const auto& name : names)
      if (name.name == wanted || name.compact == wanted) found = &name;
    if (found == nullptr) {
      std::vector<std::string> known;
      for (const auto& name : names) known.emplace_back(name.name);
      const std::string near = base::nearest(wanted, known);
      return base::fail(base::Error{base::Code::invalid_argument,
                                    fmt::format("Invalid job state specified: {}", word),
                                    {},
                                    join(known, ","),
                                    {},
                                    near.empty() ? std::string{} : fmt::format("did you mean {}?", near)});
    }
    for (auto& ours : split_list(found->ours)) filter.ours.push_back(std::move(ours));
  }
  filter.none = !filter.all && filter.ours.empty();
  return filter;
}

int state_rank(std::string_view slurm_state) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i].name == slurm_state) return static_cast<int>(i);
  return static_cast<int>(names.size());
}

}  // namespace sy::cli
