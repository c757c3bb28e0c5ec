#include <fstream>
#include <sstream>

#include "support/catch.hpp"
#include "support/paths.hpp"
#include "wire/agent_config.hpp"

using namespace sy;
using namespace sy::wire;

namespace {

AgentSettings read(const std::string& text) {
  auto got = read_agent_config(text, "agent.yaml");
  INFO((got ? "" : to_text(got.error())));
  REQUIRE(got);
  return std::move(*got);
}

std::string example(const std::string& name) {
  std::ifstream in(source_dir() + "/config/examples/" + name);
  REQUIRE(in);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

}  // namespace

TEST_CASE("the example agent settings read") {
  const AgentSettings a = read(example("agent.yaml"));
  CHECK(a.controller == Endpoint{"head.example", 6830});
  REQUIRE(a.gres);
  REQUIRE(a.gres->size() == 4);
  CHECK((*a.gres)[3].device == "/dev/nvidia3");
  CHECK((*a.gres)[3].type == "a100");
  CHECK((*a.gres)[3].index == 3);
  AgentSettings rest = a;
  rest.controller = {};
  rest.gres.reset();
  CHECK(rest == AgentSettings{});
}

TEST_CASE("the quickstart's agent settings read once they are filled in") {
  std::string text = example("quickstart-agent.yaml");
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"@ROOT@", "/q"}, {"@NAME@", "n2"}, {"@PORT@", "4711"}})
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from)) text.replace(at, from.size(), to);
  const AgentSettings a = read(text);
  CHECK(a.name == "n2");
  CHECK(a.controller == Endpoint{"127.0.0.1", 4711});
  CHECK(a.listen == Endpoint{"127.0.0.1", 0});
  CHECK(a.spool == "/q/spool/n2");
  CHECK(a.cpus == 4u);
  CHECK(a.memory == base::Mebibytes{2048});
  CHECK(a.gres->size() == 2);
}

TEST_CASE("every agent setting lands where it belongs") {
  const AgentSettings a = read(R"(
name: n1
address: n1.example
controller: "[::1]:6830"
port: 0
spool: /s
key_dir: /k
supervisor: /x/switchyard-supervisor
boot_id_file: /b
cgroup_root: /c
prolog: /p
epilog: /e
allow_root: true
log_level: warning
cpus: 8
sockets: 1
cores_per_socket: 4
threads_per_core: 2
memory: 4GiB
gres: [nvme:2, {name: gpu, devices: [/dev/a, /dev/b]}]
labels: {switch: leaf7, rack: r1}
request_timeout: 2s
)");
  CHECK(a.listen == Endpoint{"0.0.0.0", 0});
  CHECK(a.node_address == "n1.example");
  CHECK(a.key_dir == "/k");
  CHECK(a.supervisor == "/x/switchyard-supervisor");
  CHECK(a.cgroup_root == "/c");
  CHECK(a.allow_root);
  CHECK(a.log_level == LogLevel::warning);
  CHECK(a.threads_per_core == 2u);
  CHECK(a.labels == std::vector<std::pair<std::string, std::string>>{{"rack", "r1"}, {"switch", "leaf7"}});
  REQUIRE(a.gres->size() == 4);
  CHECK((*a.gres)[0].name == "gpu");
  CHECK((*a.gres)[0].device == "/dev/a");
  CHECK((*a.gres)[2].name == "nvme");
  CHECK((*a.gres)[2].device.empty());
}

TEST_CASE("all faults of an agent's settings are told at once") {
  const auto got = read_agent_config(R"(name: controller
controler: a:1
port: 99999
spool: here
memory: lots
gres: [{name: gpu, count: 3, devices: "/dev/nvidia[0-1]"}, {nam: x}]
labels: [a]
)",
                                     "agent.yaml");
  REQUIRE_FALSE(got);
  CHECK(
      to_text(got.error()) ==
      R"(agent.yaml:1:1: name: this can not be a node's name (given: controller); use letters, digits, '-', '_' and '.', at most 63; ALL and controller have a meaning of their own
agent.yaml:1:1: controller: this key is missing or empty
agent.yaml:2:1: controler: this key is not known here (limit: name, address, controller, listen, port, cpus, sockets, cores_per_socket, threads_per_core, memory, gres, labels, spool, job_files, key_dir, supervisor, boot_id_file, cgroup_root, prolog, epilog, allow_root, log_level, request_timeout); did you mean controller?
agent.yaml:3:7: port: the number is out of range (given: 99999) (limit: 0 to 65535)
agent.yaml:4:1: spool: the path must begin with / (given: here)
agent.yaml:5:1: memory: the amount of memory can not be read (given: lots); write whole numbers with K, M, G or T, as in 1875M or 4G; without a letter they are MiB
agent.yaml:6:20: gres[0].count: the count does not agree with the 2 devices (given: 3); leave the count out
agent.yaml:6:60: gres[1].name: this key is missing or empty
agent.yaml:6:61: gres[1].nam: this key is not known here (limit: name, type, devices, count); did you mean name?
agent.yaml:7:9: labels: a mapping (key: value) belongs here (given: a list))");
  CHECK_FALSE(read_agent_config("controller: head:0\n", "a"));
  CHECK_FALSE(read_agent_config("controller: head:1\nlisten: 1.1.1.1:5\nport: 5\n", "a"));
  CHECK_FALSE(read_agent_config("", "a"));
  CHECK(read_agent_config("controller: head:1\n", "a"));
}
