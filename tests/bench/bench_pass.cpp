// How long one scheduling pass takes that looks at a full cluster: N nodes without a topology, all busy, and J waiting jobs of which
// every one asks something else (the worst there is: equal requests are looked at once), by time limit or by memory.
//   bench_pass [--nodes N] [--jobs J]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "sched/pass.hpp"
#include "support/cluster.hpp"

using namespace sy::test;

namespace {

double milliseconds(const sy::sched::View& view, sy::base::Time now) {
  std::vector<double> times;
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const auto plan = sy::sched::plan_pass(view, now);
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
    if (!plan.starts.empty()) std::abort();
  }
  std::sort(times.begin(), times.end());
  return times[2];
}

void measure(std::uint32_t nodes, std::uint32_t jobs, bool by_memory) {
  Cluster c(nodes, 64, 256'000);
  c.check_after_every_step = false;
  for (std::uint32_t n = 0; n < nodes; ++n) c.submit(ask().exclusive());
  c.pass();
  for (std::uint32_t j = 0; j < jobs; ++j) {
    auto a = ask();
    if (by_memory) a.memory(1 + j);
    else a.time(seconds{60 + j});
    c.submit(std::move(a));
  }
  const auto view = sy::sched::make_view(c.state, c.state.shape ? c.state.shape : sy::model::make_shape(c.state));
  std::printf("%u nodes, %zu waiting, all different by %s: %.1f ms a pass\n", nodes, view.waiting.size(),
              by_memory ? "memory" : "time limit", milliseconds(view, c.now));
}

}  // namespace

int main(int argc, char** argv) {
  std::uint32_t nodes = 1000, jobs = 5000;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view word = argv[i];
    (word == "--nodes" ? nodes : jobs) = static_cast<std::uint32_t>(std::atoi(argv[i + 1]));
  }
  measure(nodes, jobs, false);
  measure(nodes, jobs, true);
}
