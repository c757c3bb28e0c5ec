// The configuration of the controller, and of an agent: bounded, refused with words, and what is read keeps its promises.
#include <set>
#include <string>

#include "base/time_text.hpp"
#include "fuzz/fuzz.hpp"
#include "wire/agent_config.hpp"
#include "wire/config.hpp"

using namespace sy;

void sy::fuzz::fuzz_one(std::string_view input) {
  if (const auto agent = wire::read_agent_config(input, "f")) {
    FUZZ_CHECK(!agent->controller.address.empty());
    FUZZ_CHECK(wire::parse_endpoint(wire::to_text(agent->controller)) == agent->controller);
    FUZZ_CHECK(agent->spool.starts_with("/"));
    FUZZ_PLANT(unusual(agent->controller.address) || unusual(agent->spool) || unusual(agent->name));
  }
  const auto config = wire::read_config(input, "f");
  if (!config) {
    FUZZ_CHECK(!config.error().message.empty());
    return;
  }
  FUZZ_CHECK(!config->cluster.partitions.empty());
  FUZZ_CHECK(wire::parse_endpoint(wire::to_text(config->daemon.listen)) == config->daemon.listen);
  FUZZ_CHECK(config->daemon.silent_after >= 2 * config->daemon.heartbeat);
  std::set<std::string> names;
  for (const auto& n : config->cluster.nodes) {
    FUZZ_CHECK(names.insert(n.name).second);
    FUZZ_CHECK(n.port != 0);
    FUZZ_CHECK(!n.shape || (n.shape->cpus > 0 && n.shape->memory.value > 0));
  }
  int defaults = 0;
  for (const auto& p : config->cluster.partitions) {
    defaults += p.settings.is_default ? 1 : 0;
    for (const auto& n : p.node_names) FUZZ_CHECK(p.settings.all_nodes || names.contains(n));
  }
  FUZZ_CHECK(defaults <= 1);
}
