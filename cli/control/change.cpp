#include "cli/control/change.hpp"

#include <fmt/format.h>

#include <array>

#include "base/option_table.hpp"
#include "base/time_text.hpp"
#include "cli/json_writer.hpp"
#include "cli/submit/options.hpp"
#include "cli/text.hpp"

namespace sy::cli {

namespace {

using base::Code;

// A key of scontrol's, and the option of sbatch whose value is written the same way.
struct Key {
  std::string_view name, option;
};
constexpr std::array<Key, 27> keys{{{"timelimit", "time"},
                                    {"partition", "partition"},
                                    {"name", "job-name"},
                                    {"jobname", "job-name"},
                                    {"comment", "comment"},
                                    {"account", "account"},
                                    {"qos", "qos"},
                                    {"nice", "nice"},
                                    {"numnodes", "nodes"},
                                    {"reqnodes", "nodes"},
                                    {"nodes", "nodes"},
                                    {"numtasks", "ntasks"},
                                    {"ntasks", "ntasks"},
                                    {"tasks", "ntasks"},
                                    {"cpuspertask", "cpus-per-task"},
                                    {"cpus/task", "cpus-per-task"},
                                    {"minmemorynode", "mem"},
                                    {"minmemorycpu", "mem-per-cpu"},
                                    {"features", "constraint"},
                                    {"constraint", "constraint"},
                                    {"reqnodelist", "nodelist"},
                                    {"nodelist", "nodelist"},
                                    {"excnodelist", "exclude"},
                                    {"gres", "gres"},
                                    {"trespernode", "gres"},
                                    {"requeue", ""},
                                    {"segmentsize", "segment"}}};

std::string_view option_of(const std::string& key, bool& found) {
  for (const auto& [name, option] : keys)
    if (name == key) return found = true, option;
  found = false;
  return {};
}

base::Error unknown_key(const std::string& key) {
  std::vector<std::string> names;
  for (const auto& each : keys) names.emplace_back(each.name);
  names.emplace_back("priority");
  const std::string near = base::nearest(lower(key), names);
  return {Code::unsupported,
          "this release does not change it",
          key,
          join(names, ", "),
          {},
          near.empty() ? std::string{} : fmt::format("did you mean {}?", near)};
}

// The members that the options given so far have set.
void write_members(JsonWriter& w, const SubmitRequest& request, std::string_view option) {
  const auto& spec = request.spec;
  const auto& group = spec.groups.front();
  if (option == "time") {
    if (*spec.time_limit == base::Duration::max()) w.name("time_limit_s").null();
    else w.member("time_limit_s", base::to_seconds(*spec.time_limit));
  } else if (option == "partition") w.list("partitions", spec.partitions);
  else if (option == "job-name") w.member("name", spec.name);
  else if (option == "comment") w.member("comment", spec.annotations->comment);
  else if (option == "account") w.member("account", spec.annotations->account);
  else if (option == "qos") w.member("qos", spec.annotations->qos);
  else if (option == "nice") w.member("nice", spec.nice);
  else if (option == "nodes")
    w.name("nodes").object().member("min", group.nodes.min).member("max", group.nodes.max).list("choices", group.nodes.choices).close();
  else if (option == "ntasks") w.member("tasks", group.tasks);
  else if (option == "cpus-per-task") w.member("cpus_per_task", group.cpus_per_task.value / 1000);
  else if (option == "mem") w.member("memory_per_node_mib", group.memory_per_node->value);
  else if (option == "mem-per-cpu") w.member("memory_per_cpu_mib", group.memory_per_cpu->value);
  else if (option == "constraint") w.member("constraint", group.constraint);
  else if (option == "nodelist") w.member("nodelist", group.nodelist);
  else if (option == "exclude") w.member("exclude", group.exclude);
  else if (option == "segment") w.member("segment_size", group.segments.empty() ? 0U : group.segments.front().size);
  else if (option == "gres") {
    w.name("gres_per_node").array();
    for (const auto& gres : request.gres)
      w.object().member("name", gres.name).member("type", gres.type).member("count", gres.count).close();
    w.close();
  }
}

}  // namespace

base::Result<std::vector<Assignment>> parse_assignments(const std::vector<std::string>& words) {
  std::vector<Assignment> list;
  for (const auto& word : words) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      return base::fail(
          base::Error{Code::invalid_argument, fmt::format("\"{}\" is not Key=Value", word), {}, {}, {}, "write it as in TimeLimit=30"});
    const bool adds = equals > 1 && (word[equals - 1] == '+' || word[equals - 1] == '-');
    if (adds) list.emplace_back(word.substr(0, equals - 1), word[equals - 1] + word.substr(equals + 1));
    else list.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return list;
}

base::Result<JobChangeText> job_change(const std::vector<Assignment>& assignments) {
  JobChangeText change;
  JsonWriter w;
  w.object();
  bool any = false;
  SubmitRequest request;
  request.ours = true;
  for (const auto& [key, value] : assignments) {
    const std::string name = lower(key);
    if (name == "priority") {
      if (value != "0")
        return base::fail(
            base::Error{Code::unsupported, "priorities are not set by hand in this release", key, "0 (hold)", value, "use Nice"});
      change.hold = true;
      continue;
    }
    bool found = false;
    const auto option = option_of(name, found);
    if (!found) return base::fail(unknown_key(key));
    if (name == "timelimit" && !value.empty() && (value[0] == '+' || (value[0] == '-' && value != "-1"))) {
      if (auto step = base::parse_walltime(std::string_view{value}.substr(1)); !step || !*step)
        return base::fail(
            base::Error{Code::invalid_argument, "not a span of time", key, {}, value, "write TimeLimit=+30 or TimeLimit=1:00:00"});
      change.time_step = value;
      continue;
    }
    any = true;
    if (name == "requeue") {
      if (value != "0" && value != "1") return base::fail(base::Error{Code::invalid_argument, "neither 0 nor 1", key, "0 or 1", value, {}});
      w.member("requeue", value == "1");
      continue;
    }
    const bool clears = value.empty() || lower(value) == "(null)";
    if (clears && option == "constraint") w.member("constraint", "");
    else if (clears && option == "nodelist") w.member("nodelist", "");
    else if (clears && option == "exclude") w.member("exclude", "");
    else if ((clears || value == "0") && option == "segment") w.member("segment_size", 0);
    else {
      if (auto done = apply_options(request, {{std::string{option}, key, value, true}}, Source::command_line); !done)
        return base::fail(done.error());
      request.segments_from = Source::nowhere;
      write_members(w, request, option);
    }
  }
  w.close();
  if (any) change.body = w.take();
  return change;
}

}  // namespace sy::cli
