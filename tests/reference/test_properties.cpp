// What holds for every request and cluster, whoever is right about the best place (issue B, "Properties").
#include "cases.hpp"

using namespace sy;
using namespace reference;
namespace placement = sy::sched::placement;

namespace {

Case any_case() { return make_case({.tasks = one_in(2)}); }

}  // namespace

TEST_CASE("an order-preserving renaming changes nothing but names") {
  check_property("renaming", [] {
    Case c = any_case();
    c.group.nodelist.clear();
    c.group.exclude.clear();
    const auto before = placement::place(c.group, c.shape, c.index(), c.nodes, c.options);
    for (auto& n : c.shape.nodes) n.name = "host-" + n.name.substr(1) + "x";
    for (auto& d : c.topology.domains) d.name = "zz" + d.name;
    const auto after = placement::place(c.group, c.shape, c.index(), c.nodes, c.options);
    RC_CLASSIFY(before.placed());
    RC_ASSERT(before.nodes == after.nodes);
    RC_ASSERT(before.level == after.level);
  });
}

TEST_CASE("more free nodes never turn placed into not placed") {
  check_property("monotone", [] {
    Case c = any_case();
    const auto t = c.index();
    // About half of the cases are placed; the others have nothing to show here.
    const bool placed = placement::place(c.group, c.shape, t, c.nodes, c.options).placed();
    RC_CLASSIFY(placed);
    if (!placed) return;
    for (std::size_t n = 0; n < c.nodes.size(); ++n)
      if (one_in(2)) c.nodes[n].jobs = 0, c.nodes[n].free = c.shape.nodes[n].total, c.nodes[n].exclusive = false;
    RC_ASSERT(placement::place(c.group, c.shape, t, c.nodes, c.options).placed());
  });
}

TEST_CASE("the result fits in what was free") {
  check_property("fits", [] {
    const Case c = any_case();
    const auto a = placement::place(c.group, c.shape, c.index(), c.nodes, c.options);
    RC_CLASSIFY(a.placed());
    std::vector<std::int64_t> tasks(c.nodes.size(), 0);
    for (const auto& n : a.nodes) tasks[n.node.value] += n.tasks;
    for (std::size_t n = 0; n < tasks.size(); ++n) {
      if (tasks[n] == 0) continue;
      const auto& now = c.nodes[n];
      RC_ASSERT(now.usable && !now.exclusive);
      RC_ASSERT(now.jobs == 0 || c.group.sharing == model::Sharing::shared);
      const auto cpus = c.group.cpus_per_task.value * tasks[n];
      RC_ASSERT(cpus <= now.free.cpus.value);
      if (c.group.memory_per_cpu) RC_ASSERT(c.group.memory_per_cpu->value * (cpus / 1000) <= now.free.memory.value);
      for (const auto& g : c.group.gres_per_task) RC_ASSERT(!now.free.gres.empty() && g.count * tasks[n] <= now.free.gres[0].count);
    }
  });
}

TEST_CASE("an engine that is told of changes answers like one that starts afresh") {
  check_property("no trace", [] {
    Case c = any_case();
    const auto t = c.index();
    placement::Engine engine(c.shape, t, c.nodes);
    const auto first = engine.place(c.group, c.options);
    const auto before = c.nodes;
    for (const auto& n : first.nodes) {  // taken …
      c.nodes[n.node.value].jobs = 1;
      c.nodes[n.node.value].free = {};
      engine.changed(n.node);
    }
    RC_ASSERT(engine.place(c.group, c.options).nodes == placement::place(c.group, c.shape, t, c.nodes, c.options).nodes);
    for (const auto& n : first.nodes) {  // … and given back
      c.nodes[n.node.value] = before[n.node.value];
      engine.changed(n.node);
    }
    RC_ASSERT(engine.place(c.group, c.options).nodes == first.nodes);
  });
}
