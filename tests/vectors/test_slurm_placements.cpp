// Replays what Slurm 26.05.3 chose, recorded on 72 one-CPU nodes, against the placement engine. A yardstick, not a law: never
// worse; better and different are allowed, different only for a reason of the closed list in docs/placement-vs-slurm.md.
#include <fmt/format.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/hostlist.hpp"
#include "sched/placement/placement.hpp"
#include "support/catch.hpp"
#include "support/shared_data.hpp"
#include "wire/topology/import_topology.hpp"

using namespace sy;
namespace placement = sy::sched::placement;

namespace {

struct Row {
  std::size_t number{};
  std::string kind, description, busy, request, state, result, reason;
  std::vector<std::string> before;
};

struct Cluster {
  sched::ClusterShape shape;
  model::Topology topology;
  std::map<std::string, std::uint32_t> by_name;
};

// Rows where we answer otherwise on purpose, by number; the reason is a heading of docs/placement-vs-slurm.md.
const std::map<std::size_t, std::string> allowed_to_differ{};

std::vector<Row> read_rows(const std::string& path) {
  std::vector<Row> rows;
  std::ifstream in(path);
  std::size_t number = 0;
  for (std::string line; std::getline(in, line); ++number) {
    const auto j = nlohmann::json::parse(line);
    const auto text = [&](const char* key) { return j.contains(key) && j[key].is_string() ? j[key].get<std::string>() : std::string(); };
    Row r{number, text("topology"), text("desc"), text("busy"), text("request"), text("state"), text("result"), text("reason"), {}};
    if (j.contains("pre")) r.before = j["pre"].get<std::vector<std::string>>();
    rows.push_back(std::move(r));
  }
  return rows;
}

// "tree2: 9 leaves …" → "tree2"; "flat (topology/flat)" → "flat".
std::string file_of(const std::string& kind) { return kind.substr(0, kind.find_first_of(": (")); }

Cluster cluster_of(const std::string& file) {
  Cluster c;
  for (int i = 1; i <= 72; ++i) {
    sched::ClusterShape::NodeInfo n;
    n.name = fmt::format("n{:02}", i);
    n.total.cpus = base::whole_cpus(1);
    if (i >= 33 && i <= 48) n.features = {"fa"};
    if (i >= 49 && i <= 56) n.features = {"fb"};
    c.by_name[n.name] = static_cast<std::uint32_t>(c.shape.nodes.size());
    c.shape.nodes.push_back(std::move(n));
  }
  const auto path = sy::test::shared_file("vectors/slurm-topologies/" + file + ".yaml");
  REQUIRE(path);
  std::ifstream in(*path);
  std::stringstream text;
  text << in.rdbuf();
  wire::Faults faults(file + ".yaml");
  const std::string content = text.str();
  wire::ImportRequest request;
  request.text = content;
  request.topology = file == "flat" ? "" : "t";
  wire::ClusterNodes nodes;
  nodes.find = [&](std::string_view name) -> std::optional<base::NodeIndex> {
    const auto found = c.by_name.find(std::string(name));
    if (found == c.by_name.end()) return std::nullopt;
    return base::NodeIndex{found->second};
  };
  const auto imported = wire::import_topologies(request, nodes, faults);
  REQUIRE(imported);
  c.topology = imported->topologies.at(std::min(imported->cluster_default, imported->topologies.size() - 1));
  return c;
}

// What was done to Slurm's cluster before the request: weights, a drained node, nodes moved between blocks.
void prepare(Cluster& c, std::vector<sched::NodeNow>& nodes, const std::vector<std::string>& before) {
  for (const auto& command : before) {
    std::map<std::string, std::string> words;
    std::istringstream in(command);
    for (std::string word; in >> word;)
      if (const auto at = word.find('='); at != std::string::npos) words[word.substr(0, at)] = word.substr(at + 1);
    const auto names = base::expand_hostlist(words.at("nodename"));
    REQUIRE(names);
    for (const auto& name : *names) {
      const auto n = base::NodeIndex{c.by_name.at(name)};
      if (words.contains("weight")) c.shape.nodes[n.value].weight = static_cast<std::uint32_t>(std::stoul(words["weight"]));
      if (words.contains("state")) nodes[n.value].usable = false, nodes[n.value].drained = true;
      if (!words.contains("topology")) continue;
      const auto block = words["topology"].substr(2);
      for (auto& d : c.topology.domains) std::erase(d.nodes, n);
      auto into = std::find_if(c.topology.domains.begin(), c.topology.domains.end(), [&](const auto& d) { return d.name == block; });
      if (into == c.topology.domains.end()) {
        model::Domain fresh;
        fresh.name = block;
        into = c.topology.domains.insert(c.topology.domains.end(), fresh);
      }
      into->nodes.push_back(n);
    }
  }
}

std::uint32_t number(const std::string& text) { return static_cast<std::uint32_t>(std::stoul(text)); }

void read_count(model::Group& g, const std::string& text) {
  const auto dash = text.find('-');
  g.nodes.min = number(text);
  g.nodes.max = dash == std::string::npos ? g.nodes.min : number(text.substr(dash + 1));
  g.nodes_given = true;
}

model::Group group_of(const std::string& request) {
  model::Group g;
  g.sharing = model::Sharing::exclusive_node;
  std::istringstream in(request);
  const auto segment = [&]() -> model::Segment& {
    if (g.segments.empty()) g.segments.emplace_back();
    return g.segments.front();
  };
  for (std::string word; in >> word;) {
    const auto value = [&] { return word.substr(word.find('=') + 1); };
    const auto next = [&] {
      std::string v;
      in >> v;
      return v;
    };
    if (word.starts_with("-N")) read_count(g, word.substr(2));
    else if (word == "-w") g.nodelist = next();
    else if (word == "-x") g.exclude = next();
    else if (word == "-C") g.constraint = next();
    else if (word.starts_with("--switches=")) g.switches = number(value()), g.switches_wait = std::chrono::seconds{4};
    else if (word.starts_with("--segment=")) segment().size = number(value());
    else if (word == "--spread-segments") segment().distinct = true;
    else if (word == "--consolidate-segments") segment().consolidate = true;
    else if (word == "--exclusive=topo") g.exclusive_level = "topo";
    else if (word != "--spread-job") FAIL("unknown option " << word << " in " << request);
  }
  return g;
}

// How good a set of nodes is: fewer is better at each place, in this order (after started and nodes given).
struct Quality {
  std::int32_t level{};          // height of the narrowest domain that holds all: 0 the leaf or base block
  std::size_t leaves{};
  std::size_t runs{};            // flat only
  auto operator<=>(const Quality&) const = default;
};

Quality quality_of(const model::TopologyIndex& t, const std::set<std::uint32_t>& nodes) {
  Quality q;
  std::set<std::uint32_t> leaves;
  for (const auto n : nodes)
    if (const auto p = t.position_of(n); p >= 0) leaves.insert(t.leaf_at(static_cast<std::uint32_t>(p)));
  q.leaves = leaves.size();
  for (auto level = t.narrowest_level(); level >= model::TopologyIndex::any_level; --level, ++q.level) {
    std::set<std::int32_t> above;
    for (const auto l : leaves) above.insert(t.ancestor(l, level));
    if (above.size() <= 1 && !above.contains(-1)) break;
  }
  if (t.kind() != model::Topology::Kind::flat) return q;
  for (const auto n : nodes) q.runs += nodes.contains(n - 1) ? 0 : 1;
  return q;
}

enum class Outcome { same, better, different, worse };

Outcome compare(const Row& r, const Cluster& c, const model::TopologyIndex& t, const placement::Answer& a) {
  const bool refused = a.verdict.kind == model::Verdict::Kind::never;
  if (r.state != "RUNNING") {
    if (a.placed()) return Outcome::better;
    return (r.state == "REJECTED") == refused ? Outcome::same : Outcome::different;
  }
  if (!a.placed()) return Outcome::worse;
  std::set<std::uint32_t> ours, theirs;
  for (const auto& n : a.nodes) ours.insert(n.node.value);
  const auto names = base::expand_hostlist(r.result);
  REQUIRE(names);
  for (const auto& name : *names) theirs.insert(c.by_name.at(name));
  if (ours.size() != theirs.size()) return ours.size() > theirs.size() ? Outcome::better : Outcome::worse;
  const auto x = quality_of(t, ours), y = quality_of(t, theirs);
  return x == y ? Outcome::same : x < y ? Outcome::better : Outcome::worse;
}

// Earlier requests of the sequence that took a whole block for themselves: it is taken, though `busy` shows their nodes only.
std::set<std::uint32_t> closed_before(const std::vector<Row>& rows, std::size_t at, const model::TopologyIndex& t, const Cluster& c) {
  std::set<std::uint32_t> out;
  for (auto i = at; i-- > 0 && rows[i].description == rows[at].description && rows[i].kind == rows[at].kind;) {
    if (rows[i].request.find("--exclusive=topo") == std::string::npos || rows[i].result.empty()) continue;
    const auto names = base::expand_hostlist(rows[i].result);
    REQUIRE(names);
    for (const auto& name : *names) {
      const auto& leaf = t.domain(t.leaf_at(static_cast<std::uint32_t>(t.position_of(c.by_name.at(name)))));
      for (auto p = leaf.begin; p < leaf.end; ++p) out.insert(t.node_at(p));
    }
  }
  return out;
}

}  // namespace

TEST_CASE("Slurm's recorded placements are never better than ours") {
  const auto path = sy::test::shared_file("vectors/slurm-placements.jsonl");
  if (!path) return;
  const auto rows = read_rows(path->string());
  REQUIRE(rows.size() == 158);
  std::map<Outcome, std::size_t> count;
  std::size_t replayed = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& r = rows[i];
    const auto file = file_of(r.kind);
    if (file == "ring" || file == "torus3d") continue;
    ++replayed;
    Cluster c = cluster_of(file);
    auto nodes = placement::idle_nodes(c.shape);
    prepare(c, nodes, r.before);
    const auto t = model::TopologyIndex::build(c.topology, placement::node_names(c.shape));
    const auto take = [&](std::uint32_t n) { nodes[n].free.cpus = base::Cpus{0}, nodes[n].jobs = 1; };
    const auto busy = r.busy.empty() ? std::vector<std::string>{} : base::expand_hostlist(r.busy).value();
    for (const auto& name : busy) take(c.by_name.at(name));
    const bool alone = r.kind.find("on tree") == std::string::npos && r.description.find("on tree") != std::string::npos;
    if (!alone)  // on a tree Slurm ignores --exclusive=topo
      for (const auto n : closed_before(rows, i, t, c)) take(n);
    placement::Options o;
    if (file == "tree2+TopoOptional") o.packing = placement::Packing::none;
    const auto a = placement::place(group_of(r.request), c.shape, t, nodes, o);
    auto outcome = compare(r, c, t, a);
    const auto reason = allowed_to_differ.find(r.number);
    if (outcome == Outcome::different && reason == allowed_to_differ.end()) outcome = Outcome::worse;
    ++count[outcome];
    std::vector<std::string> names;
    for (const auto& n : a.nodes) names.push_back(c.shape.nodes[n.node.value].name);
    const char* word[] = {"same", "better", "different", "worse"};
    const auto line =
        fmt::format("{:3} {:9} {} | {} | busy {} | Slurm {} {} | ours {} F+{}{}", r.number, word[static_cast<int>(outcome)], file,
                    r.request, r.busy, r.state, r.result, a.placed() ? base::fold_hostlist(names) : model::to_text(a.verdict),
                    a.fragmentation_growth, reason == allowed_to_differ.end() ? "" : " — " + reason->second);
    fmt::print("{}\n", line);
    INFO(line);
    CHECK(outcome != Outcome::worse);
  }
  fmt::print("Slurm's placements: {} replayed, {} same, {} better, {} different with a reason, {} worse\n", replayed, count[Outcome::same],
             count[Outcome::better], count[Outcome::different], count[Outcome::worse]);
  CHECK(replayed == 145);
}
