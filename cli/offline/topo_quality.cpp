// `sy topo quality`: how well running jobs are placed (domains used against the fewest that could have held them, level
// crossed), and how fragmented the machine is (design P9; the largest free stretch on each level).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

#include "base/hostlist.hpp"
#include "cli/api.hpp"
#include "cli/json_writer.hpp"
#include "cli/topo/topo.hpp"
#include "cli/topo/topology_input.hpp"
#include "model/topology_index.hpp"
#include "sched/placement/placement.hpp"

namespace sy::cli {
namespace {

using Argument = base::OptionRule::Argument;
using Index = model::TopologyIndex;
constexpr std::array<base::OptionRule, 2> rules{{{"topology-name", 0, Argument::required, {}}, {"json", 0, Argument::none, {}}}};
constexpr std::string_view help_text =
    R"(Usage: sy topo quality [--topology-name NAME] [--json]
Per running job: nodes, leaf domains used, the fewest that could have held it, the level that holds it whole. For the topology: its
fragmentation value and the largest number of free nodes in one domain of each level.
)";

struct JobQuality {
  std::string id, user;
  std::size_t nodes{}, used{}, least{};
  std::string level;  // the narrowest that holds it whole; "any": none does
};
struct LevelFree {
  std::string level, domain;
  std::size_t free{};
};

// The fewest leaf domains that hold n nodes when everything is idle.
std::size_t least_leaves(const Index& t, std::size_t n) {
  std::vector<std::size_t> sizes;
  for (const auto& d : t.domains())
    if (d.leaf()) sizes.push_back(d.size());
  std::sort(sizes.rbegin(), sizes.rend());
  std::size_t count = 0;
  for (const auto s : sizes) {
    if (n == 0) break;
    n -= std::min(n, s);
    ++count;
  }
  return count;
}

JobQuality judge(const Index& t, Json job, const std::unordered_map<std::string, std::uint32_t>& node_index) {
  JobQuality q;
  q.id = std::to_string(job["id"].integer());
  q.user = std::string(job["user"].text());
  const auto names = base::expand_hostlist(job["nodes"].text());
  if (!names) return q;
  std::set<std::uint32_t> leaves;
  for (const auto& n : *names) {
    const auto found = node_index.find(n);
    const auto position = found == node_index.end() ? Index::nowhere : t.position_of(found->second);
    if (position != Index::nowhere) leaves.insert(t.leaf_at(static_cast<std::uint32_t>(position)));
  }
  q.nodes = names->size();
  q.used = leaves.size();
  q.least = least_leaves(t, names->size());
  q.level = "any";
  for (std::int32_t level = t.narrowest_level(); level >= 0; --level) {
    std::set<std::int32_t> holders;
    for (const auto l : leaves) holders.insert(t.ancestor(l, level));
    if (holders.size() == 1 && *holders.begin() >= 0) {
      q.level = t.level_name(level);
      break;
    }
  }
  return q;
}

std::vector<LevelFree> largest_free(const Index& t, const std::vector<sched::NodeNow>& nodes) {
  std::vector<LevelFree> out;
  for (std::int32_t level = Index::any_level; level <= t.narrowest_level(); ++level) {
    LevelFree best{t.level_name(level), {}, 0};
    for (const auto d : t.at_level(level)) {
      std::size_t free = 0;
      for (auto p = t.domain(d).begin; p < t.domain(d).end; ++p)
        free += nodes[t.node_at(p)].jobs == 0 && nodes[t.node_at(p)].usable ? 1U : 0U;
      if (free > best.free || best.domain.empty()) best = {best.level, t.domain(d).name, free};
    }
    out.push_back(std::move(best));
  }
  return out;
}

void print(Context& context, const std::string& name, std::int64_t fragmentation, const std::vector<LevelFree>& free,
           const std::vector<JobQuality>& jobs, bool json) {
  if (json) {
    JsonWriter w;
    w.object().member("topology", name).member("fragmentation", fragmentation).name("largest_free").array();
    for (const auto& f : free) w.object().member("level", f.level).member("domain", f.domain).member("free", f.free).close();
    w.close().name("jobs").array();
    for (const auto& j : jobs) {
      w.object().member("id", j.id).member("user", j.user).member("nodes", j.nodes).member("domains", j.used);
      w.member("least", j.least).member("level", j.level).close();
    }
    w.close().close();
    context.out.line(w.text());
    return;
  }
  context.out.line(fmt::format("{}: fragmentation value {}", name, fragmentation));
  for (const auto& f : free)
    context.out.line(fmt::format("largest free in one {}: {} nodes{}", f.level, f.free, f.domain.empty() ? "" : " in " + f.domain));
  if (jobs.empty()) return context.out.line("no job is running");
  context.out.line(fmt::format("{:>10} {:<12} {:>6} {:>8} {:>6}  {}", "JOBID", "USER", "NODES", "DOMAINS", "LEAST", "WITHIN"));
  for (const auto& j : jobs)
    context.out.line(fmt::format("{:>10} {:<12} {:>6} {:>8} {:>6}  {}", j.id, j.user, j.nodes, j.used, j.least, j.level));
}

}  // namespace

int run_topo_quality(Context& context, const Words& words) {
  int exit_code = 0;
  const auto options = read_topo_options(context, words, rules, help_text, exit_code);
  if (!options) return exit_code;
  if (!options->rest.empty())
    return print_error(context, {base::Code::invalid_argument, "this word has no place here", {}, {}, options->rest[0], {}});
  const auto in_force = fetch_topology(context, options->value("topology-name"));
  if (!in_force) return print_error(context, in_force.error());
  const auto nodes = call(context, get("/v1/nodes"));
  if (!nodes) return print_error(context, nodes.error());
  const auto running = get_pages(context, "/v1/jobs", "state=running&fields=id,user,nodes", "jobs");
  if (!running) return print_error(context, running.error());

  const auto index = Index::build(in_force->topology, in_force->names);
  std::unordered_map<std::string, std::uint32_t> by_name;
  for (std::uint32_t i = 0; i < in_force->names.size(); ++i) by_name.emplace(in_force->names[i], i);
  std::vector<sched::NodeNow> now(in_force->names.size());
  nodes->root()["nodes"].for_each([&](Json n) {
    const auto found = by_name.find(std::string(n["name"].text()));
    if (found == by_name.end()) return;
    auto& node = now[found->second];
    const auto state = n["state"].text();
    node.usable = state == "idle" || state == "mixed" || state == "allocated";
    node.jobs = n["jobs"].size() > 0 ? 1 : 0;
  });
  std::vector<JobQuality> jobs;
  for (const auto& j : running->rows) jobs.push_back(judge(index, j, by_name));
  print(context, in_force->topology.name, sched::placement::fragmentation(index, now), largest_free(index, now), jobs,
        options->has("json"));
  return 0;
}

}  // namespace sy::cli
