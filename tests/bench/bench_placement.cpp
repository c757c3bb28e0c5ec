// Times single placements and rates placements over a synthetic month. Run: bench_placement [calls per figure, default 2000]
// [only figures with this in "CLUSTER BUSY% REQUEST", or month]. Prints p50 and p99 of the thread's CPU time (other work on the
// machine does not count) per cluster, share of busy nodes and kind of request, and the nodes and domains looked at; then gangs;
// then the month on 64 x 72 nodes against first fit and against best fit as Slurm documents it (the leaf with fewest free nodes
// that holds the job; otherwise leaves by most free nodes).
// Instructions, whatever else the machine does: valgrind --tool=callgrind --toggle-collect='*Engine::place*' bench_placement 200 FIGURE
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <list>
#include <map>
#include <random>
#include <set>

#include "sched/placement/placement.hpp"

using namespace sy;
namespace placement = sy::sched::placement;

namespace {

struct Cluster {
  sched::ClusterShape shape;
  model::Topology topology;
  std::vector<sched::NodeNow> nodes;
};

void add_nodes(Cluster& c, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    sched::ClusterShape::NodeInfo n;
    n.name = fmt::format("n{:06}", i);
    n.total.cpus = base::whole_cpus(64);
    n.total.memory = base::Mebibytes{512'000};
    n.total.add_gres("gpu", "h100", 8);
    c.shape.nodes.push_back(std::move(n));
  }
  c.nodes = placement::idle_nodes(c.shape);
}

// Levels wide to narrow with so many children each; then `leaf` nodes in every leaf.
Cluster tree(std::vector<std::size_t> fan, std::size_t leaf) {
  Cluster c;
  c.topology.name = "tree";
  c.topology.kind = model::Topology::Kind::tree;
  const char* names[] = {"core", "pod", "spine", "rack"};
  for (std::size_t l = 0; l < fan.size(); ++l) c.topology.levels.push_back({names[l], {}});
  std::vector<std::uint32_t> leaves;
  const std::function<void(std::size_t, std::int32_t)> grow = [&](std::size_t level, std::int32_t parent) {
    for (std::size_t k = 0; k < fan[level]; ++k) {
      model::Domain d;
      const auto at = static_cast<std::uint32_t>(c.topology.domains.size());
      d.name = fmt::format("{}{:05}", names[level], at);
      d.level = static_cast<std::uint32_t>(level);
      d.parent = parent;
      c.topology.domains.push_back(d);
      if (parent >= 0) c.topology.domains[static_cast<std::size_t>(parent)].children.push_back(at);
      if (level + 1 < fan.size()) grow(level + 1, static_cast<std::int32_t>(at));
      else leaves.push_back(at);
    }
  };
  grow(0, -1);
  add_nodes(c, leaves.size() * leaf);
  for (std::size_t i = 0; i < leaves.size() * leaf; ++i)
    c.topology.domains[leaves[i / leaf]].nodes.push_back(base::NodeIndex{static_cast<std::uint32_t>(i)});
  return c;
}

Cluster blocks(std::size_t count, std::size_t size) {
  Cluster c;
  c.topology.name = "blocks";
  c.topology.kind = model::Topology::Kind::block;
  c.topology.levels.push_back({"block", {}});
  for (std::size_t s = size; s <= size * 16; s *= 2) c.topology.block_sizes.push_back(static_cast<std::uint32_t>(s));
  add_nodes(c, count * size);
  for (std::size_t b = 0; b < count; ++b) {
    model::Domain d;
    d.name = fmt::format("b{:05}", b);
    for (std::size_t i = 0; i < size; ++i) d.nodes.push_back(base::NodeIndex{static_cast<std::uint32_t>(b * size + i)});
    c.topology.domains.push_back(d);
  }
  return c;
}

model::Group plain(std::mt19937& random) {
  model::Group g;
  const auto n = static_cast<std::uint32_t>(std::exp2(std::uniform_real_distribution<>(0, 9)(random)));
  g.nodes = {n, n, {}};
  g.nodes_given = true;
  g.sharing = model::Sharing::exclusive_node;
  return g;
}
model::Group segmented(std::mt19937& random) {
  auto g = plain(random);
  const auto n = (g.nodes.max + 7) / 8 * 8;
  g.nodes = {n, n, {}};
  model::Segment s;
  s.size = 8;
  g.segments.push_back(s);
  return g;
}
model::Group by_tasks(std::mt19937& random, bool fresh) {
  model::Group g;
  g.tasks = static_cast<std::uint32_t>(std::exp2(std::uniform_real_distribution<>(0, 8)(random)));
  g.tasks_given = true;
  g.cpus_per_task = base::whole_cpus(8);
  g.memory_per_cpu = base::Mebibytes{fresh ? std::uniform_int_distribution<>(1000, 6000)(random) : 4000};
  g.gres_per_task.push_back({"gpu", "", 1});
  return g;
}

double micros_of_this_thread() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) * 1e6 + double(t.tv_nsec) / 1e3;
}

// A leader with one CPU and workers with eight GPUs each, so many groups of them in all, inside one pod where that is possible.
model::Group gang(std::size_t groups) {
  model::Group g;
  for (std::size_t i = 0; i < groups; ++i) {
    model::Group child;
    child.name = fmt::format("g{}", i);
    child.tasks_given = true;
    child.tasks = i % 8 == 0 ? 1 : static_cast<std::uint32_t>(1 + i % 4);
    if (i % 8 != 0) child.gres_per_task.push_back({"gpu", "", 8});
    child.cpus_per_task = base::whole_cpus(i % 8 == 0 ? 1 : 32);
    g.children.push_back(std::move(child));
  }
  return g;
}

struct Times {
  std::vector<double> micros;
  std::uint64_t nodes{}, domains{}, placed{};
  std::uint32_t choices{};               // of all nodes named, in order: the same number, the same placements
};

std::string only;  // figures to measure: those whose line contains this

template <class Make>
void time(const char* cluster, const Cluster& c, int busy, const char* what, std::size_t calls, Make make) {
  if (fmt::format("{} {}% {}", cluster, busy, what).find(only) == std::string::npos) return;
  const auto index = model::TopologyIndex::build(c.topology, placement::node_names(c.shape));
  std::mt19937 random(42);
  auto nodes = c.nodes;
  const auto set = [&](std::size_t n, bool free) {
    nodes[n].jobs = free ? 0 : 1;
    nodes[n].free = free ? c.shape.nodes[n].total : base::Resources{};
  };
  // Busy in runs, as jobs leave them.
  for (std::size_t i = 0; i < nodes.size();) {
    const auto run = std::uniform_int_distribution<std::size_t>(1, 40)(random);
    const bool is_busy = std::uniform_int_distribution<>(0, 99)(random) < busy;
    for (std::size_t k = 0; k < run && i < nodes.size(); ++k, ++i)
      if (is_busy) set(i, false);
  }
  placement::Engine engine(c.shape, index, nodes);
  placement::Options o;
  o.explain = false;
  Times t;
  std::vector<model::Group> requests;
  for (std::size_t i = 0; i < calls; ++i) requests.push_back(make(random));
  engine.place(requests[0], o);
  std::vector<std::uint32_t> flipped;
  for (const auto& g : requests) {
    const auto from = micros_of_this_thread();
    const auto a = engine.place(g, o);
    t.micros.push_back(micros_of_this_thread() - from);
    t.nodes += a.work.nodes_looked_at;
    t.domains += a.work.domains_looked_at;
    t.placed += a.placed() ? 1 : 0;
    for (const auto& n : a.nodes) t.choices = t.choices * 31 + n.node.value * 7 + n.tasks;
    // A few nodes change between two questions, as jobs start and end: two become what they were not, and the two of the question
    // before last change back. So the share of busy nodes stays what it is said to be.
    const auto flip = [&](std::uint32_t n) {
      set(n, nodes[n].jobs > 0);
      engine.changed(base::NodeIndex{n});
    };
    for (int k = 0; k < 2; ++k)
      flipped.push_back(std::uniform_int_distribution<std::uint32_t>(0, static_cast<std::uint32_t>(nodes.size() - 1))(random));
    flip(flipped[flipped.size() - 2]);
    flip(flipped[flipped.size() - 1]);
    if (flipped.size() < 6) continue;
    flip(flipped[flipped.size() - 6]);
    flip(flipped[flipped.size() - 5]);
  }
  std::sort(t.micros.begin(), t.micros.end());
  std::printf("%-22s %3d%% busy  %-22s p50 %8.1f us  p99 %8.1f us   looked at %7.0f nodes %7.0f domains  placed %3.0f%%  choices %08x\n",
              cluster, busy, what, t.micros[calls / 2], t.micros[calls * 99 / 100], double(t.nodes) / double(calls),
              double(t.domains) / double(calls), 100.0 * double(t.placed) / double(calls), t.choices);
  std::fflush(stdout);
}

void grid(const char* name, const Cluster& c, std::size_t calls) {
  for (const int busy : {0, 50, 95}) {
    time(name, c, busy, "plain", calls, plain);
    time(name, c, busy, "segments of 8", calls, segmented);
    time(name, c, busy, "tasks, known shape", calls, [](std::mt19937& r) { return by_tasks(r, false); });
    time(name, c, busy, "tasks, new shape", std::max<std::size_t>(calls / 10, 100), [](std::mt19937& r) { return by_tasks(r, true); });
  }
}

void gangs(const char* name, const Cluster& c, std::size_t calls) {
  for (const int busy : {0, 50, 95})
    time(name, c, busy, "gang of 64 groups", std::max<std::size_t>(calls / 50, 20), [](std::mt19937&) { return gang(64); });
}

// ---- a month ----

constexpr std::size_t month_blocks = 64, block_size = 72, month_nodes = month_blocks * block_size;

struct Job {
  double arrives, lasts;
  std::uint32_t nodes;
};

std::vector<Job> month() {
  std::mt19937 random(7);
  std::vector<Job> jobs;
  double work = 0;
  const double capacity = 30.0 * 86400 * month_nodes;
  while (work < capacity * 0.85) {
    Job j;
    j.nodes = static_cast<std::uint32_t>(std::exp2(std::uniform_real_distribution<>(0, std::log2(month_nodes / 2))(random)));
    j.lasts = 600 * std::exp2(std::uniform_real_distribution<>(0, std::log2(144.0))(random));
    j.arrives = std::uniform_real_distribution<>(0, 30.0 * 86400)(random);
    work += j.lasts * j.nodes;
    jobs.push_back(j);
  }
  std::sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.arrives < b.arrives; });
  return jobs;
}

using Choose = std::function<std::vector<std::uint32_t>(std::uint32_t n, const std::vector<bool>& free)>;
using Told = std::function<void(std::uint32_t node, bool free)>;

std::vector<std::uint32_t> first_fit(std::uint32_t n, const std::vector<bool>& free) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < free.size() && out.size() < n; ++i)
    if (free[i]) out.push_back(i);
  return out;
}

std::vector<std::uint32_t> documented_best_fit(std::uint32_t n, const std::vector<bool>& free) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> leaves;  // free, block
  for (std::uint32_t b = 0; b < month_blocks; ++b) {
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < block_size; ++i) count += free[b * block_size + i] ? 1 : 0;
    leaves.emplace_back(count, b);
  }
  std::vector<std::uint32_t> order;
  const auto one = std::min_element(leaves.begin(), leaves.end(), [&](const auto& a, const auto& b) {
    return (a.first >= n) != (b.first >= n) ? a.first >= n : a.first < b.first;
  });
  if (one->first >= n && n > 1) order.push_back(one->second);  // a one-node job ignores the topology
  else if (n > 1) {
    std::stable_sort(leaves.begin(), leaves.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& l : leaves) order.push_back(l.second);
  } else {
    return first_fit(n, free);
  }
  std::vector<std::uint32_t> out;
  for (const auto b : order)
    for (std::uint32_t i = 0; i < block_size && out.size() < n; ++i)
      if (free[b * block_size + i]) out.push_back(static_cast<std::uint32_t>(b * block_size + i));
  return out;
}

// When each job of the month starts, by numbers of nodes alone: first come first served, and whoever fits and ends before the first
// in line can start goes ahead (EASY). No choice of nodes can change it, so every chooser is shown the same month.
struct Change {
  double at{};
  std::size_t job{};
  bool starts{};
};
std::vector<Change> schedule(const std::vector<Job>& jobs) {
  std::vector<Change> out;
  std::multimap<double, std::size_t> ends;
  std::list<std::size_t> waiting;
  std::size_t next = 0, free = month_nodes;
  const auto start = [&](double now, std::size_t j) {
    free -= jobs[j].nodes;
    ends.emplace(now + jobs[j].lasts, j);
    out.push_back({now, j, true});
  };
  while (next < jobs.size() || !ends.empty()) {
    const bool arrival = next < jobs.size() && (ends.empty() || jobs[next].arrives < ends.begin()->first);
    const double now = arrival ? jobs[next].arrives : ends.begin()->first;
    if (arrival) {
      waiting.push_back(next++);
    } else {
      const auto j = ends.begin()->second;
      ends.erase(ends.begin());
      free += jobs[j].nodes;
      out.push_back({now, j, false});
    }
    while (!waiting.empty() && jobs[waiting.front()].nodes <= free) start(now, waiting.front()), waiting.pop_front();
    if (waiting.empty()) continue;
    std::size_t then = free;
    double opens = now;
    for (auto e = ends.begin(); e != ends.end() && then < jobs[waiting.front()].nodes; ++e) then += jobs[e->second].nodes, opens = e->first;
    std::size_t spare = then - jobs[waiting.front()].nodes;
    for (auto w = std::next(waiting.begin()); w != waiting.end();) {
      const Job& j = jobs[*w];
      const bool ends_before = now + j.lasts <= opens;
      if (j.nodes > free || (!ends_before && j.nodes > spare)) {
        ++w;
        continue;
      }
      if (!ends_before) spare -= j.nodes;
      start(now, *w);
      w = waiting.erase(w);
    }
  }
  return out;
}

void replay(const char* name, const std::vector<Job>& jobs, const std::vector<Change>& changes, const Choose& choose, const Told& told) {
  constexpr double days = 30.0 * 86400;  // what is left over is not counted: an emptying machine flatters everybody
  std::vector<bool> free(month_nodes, true);
  std::vector<std::vector<std::uint32_t>> held(jobs.size());
  std::size_t started = 0, in_one = 0, could_be_one = 0, busy = 0;
  double now = 0, ratio = 0, largest = 0, whole = 0, used_time = 0;
  for (const auto& change : changes) {
    const double t = std::min(change.at, days);
    std::size_t most = 0, all = 0;
    for (std::size_t b = 0; t > now && b < month_blocks; ++b) {
      const auto from = free.begin() + static_cast<std::ptrdiff_t>(b * block_size);
      const auto count = static_cast<std::size_t>(std::count(from, from + block_size, true));
      most = std::max(most, count);
      all += count == block_size ? 1 : 0;
    }
    largest += (t - now) * double(most);
    whole += (t - now) * double(all);
    used_time += (t - now) * double(busy);
    now = t;
    if (change.at > days) break;
    const Job& j = jobs[change.job];
    if (!change.starts) {
      for (const auto n : held[change.job]) free[n] = true, told(n, true);
      busy -= held[change.job].size();
      continue;
    }
    auto nodes = choose(j.nodes, free);
    std::set<std::uint32_t> used;
    for (const auto n : nodes) {
      if (!free[n]) nodes.clear();
      free[n] = false, told(n, false), used.insert(static_cast<std::uint32_t>(n / block_size));
    }
    if (nodes.size() != j.nodes) {
      std::printf("%s: no placement for %u nodes\n", name, j.nodes);
      std::exit(1);
    }
    const auto least = (j.nodes + block_size - 1) / block_size;
    ratio += double(used.size()) / double(least);
    ++started;
    if (least == 1) ++could_be_one, in_one += used.size() == 1 ? 1 : 0;
    busy += nodes.size();
    held[change.job] = std::move(nodes);
  }
  std::printf(
      "%-28s utilisation %4.1f%%   domains used / least possible %.3f   in one block %5.1f%% of those that could be   largest free in a "
      "block %5.1f   whole blocks free %5.2f\n",
      name, 100.0 * used_time / (days * month_nodes), ratio / double(started), 100.0 * double(in_one) / double(could_be_one),
      largest / days, whole / days);
}

void replay_month() {
  const auto jobs = month();
  const auto changes = schedule(jobs);
  std::printf("\na month of %zu jobs on %zu x %zu nodes, first come first served with backfill, the same starts for each chooser\n",
              jobs.size(), month_blocks, block_size);
  replay("first fit", jobs, changes, first_fit, [](std::uint32_t, bool) {});
  replay("best fit as Slurm documents", jobs, changes, documented_best_fit, [](std::uint32_t, bool) {});
  auto c = tree({1, month_blocks}, block_size);
  const auto index = model::TopologyIndex::build(c.topology, placement::node_names(c.shape));
  placement::Engine engine(c.shape, index, c.nodes);
  placement::Options o;
  o.explain = false;
  const auto ours = [&](std::uint32_t n, const std::vector<bool>&) {
    model::Group g;
    g.nodes = {n, n, {}};
    g.nodes_given = true;
    g.sharing = model::Sharing::exclusive_node;
    std::vector<std::uint32_t> out;
    for (const auto& p : engine.place(g, o).nodes) out.push_back(p.node.value);
    return out;
  };
  replay("switchyard", jobs, changes, ours, [&](std::uint32_t n, bool free) {
    c.nodes[n].jobs = free ? 0 : 1;
    c.nodes[n].free = free ? c.shape.nodes[n].total : base::Resources{};
    engine.changed(base::NodeIndex{n});
  });
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t calls = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 2000;
  only = argc > 2 ? argv[2] : "";
  grid("10,000 in 250 leaves", tree({1, 5, 5, 10}, 40), calls);
  grid("10,008 in 556 blocks", blocks(556, 18), calls);
  const auto from = std::chrono::steady_clock::now();
  const auto large = tree({1, 10, 10, 25}, 40);
  const auto index = model::TopologyIndex::build(large.topology, placement::node_names(large.shape));
  std::printf("topology of 100,000 nodes: built in %.0f ms with its cluster, %.1f MB\n",
              std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - from).count(),
              double(index.memory_bytes()) / 1e6);
  grid("100,000 in 2,500 leaves", large, calls / 2);
  gangs("10,000 in 250 leaves", tree({1, 5, 5, 10}, 40), calls);
  if (std::string("month").find(only) != std::string::npos) replay_month();
}
