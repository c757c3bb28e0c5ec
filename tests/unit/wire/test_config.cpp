#include <fmt/format.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "support/catch.hpp"
#include "support/paths.hpp"
#include "wire/config.hpp"

using namespace sy;
using namespace sy::wire;

namespace {

std::string text_of(const std::string& path) {
  std::ifstream in(source_dir() + "/" + path);
  REQUIRE(in);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

Config read(const std::string& text) {
  auto got = read_config(text, "switchyard.yaml");
  INFO((got ? "" : to_text(got.error())));
  REQUIRE(got);
  return std::move(*got);
}

std::string faults(const std::string& text) {
  const auto got = read_config(text, "switchyard.yaml");
  REQUIRE_FALSE(got);
  return to_text(got.error());
}

// "  # heartbeat: 10s" without its '#'; other lines as they are. A default of "none" has nothing to write.
std::string with_default_written(const std::string& line) {
  static const std::regex shown("^(  |)# (  )?([a-z_]+:.*)$");
  std::smatch m;
  if (!std::regex_match(line, m, shown) || line.find(": none") != std::string::npos || line.find("[wheel]") != std::string::npos)
    return line;
  return m[1].str() + m[2].str() + m[3].str();
}

const std::string least = "partitions: [{name: batch, nodes: ALL}]\n";

}  // namespace

TEST_CASE("the example configuration reads, and its comments tell the defaults that hold") {
  const Config c = read(text_of("config/examples/switchyard.yaml"));
  CHECK(c.cluster.settings.cluster_name == "example");
  DaemonSettings defaults;
  CHECK(c.daemon == defaults);
  model::Settings settings;
  settings.cluster_name = "example";
  CHECK(c.cluster.settings == settings);
  REQUIRE(c.cluster.nodes.size() == 3);
  const auto& n1 = c.cluster.nodes[0];
  CHECK(n1.name == "n1");
  REQUIRE(n1.shape);
  CHECK(n1.shape->cpus == 64);
  CHECK(n1.shape->memory == base::Mebibytes{262'144});
  CHECK(n1.shape->gres.size() == 4);
  CHECK(n1.features == std::vector<std::string>{"a100", "ib"});
  CHECK(c.cluster.nodes[2].weight == 10);
  REQUIRE(c.cluster.partitions.size() == 2);
  CHECK(c.cluster.partitions[0].settings.is_default);
  CHECK(c.cluster.partitions[0].settings.all_nodes);
  CHECK(c.cluster.partitions[1].node_names == std::vector<std::string>{"n1", "n2"});
  CHECK(c.cluster.partitions[1].settings.max_time == std::chrono::hours{12});

  // Its comments are right: every default that is shown, when written out, is what holds anyway.
  std::string all;
  std::istringstream lines(text_of("config/examples/switchyard.yaml"));
  for (std::string line; std::getline(lines, line) && line.find("nodes:") != 0;) all += with_default_written(line) + "\n";
  all += least;
  INFO(all);
  const Config written = read(all);
  CHECK(written.daemon == defaults);
  CHECK(written.cluster.settings == settings);
  CHECK(all.find("\n  heartbeat: 10s") != std::string::npos);
  CHECK(all.find("\n  connections: 4096") != std::string::npos);
}

TEST_CASE("the quickstart's configuration reads once its folder is filled in") {
  std::string text = text_of("config/examples/quickstart.yaml");
  for (auto at = text.find("@ROOT@"); at != std::string::npos; at = text.find("@ROOT@")) text.replace(at, 6, "/tmp/q");
  const Config c = read(text);
  CHECK(c.daemon.state_dir == "/tmp/q/state");
  CHECK(c.daemon.listen == Endpoint{"127.0.0.1", 0});
  CHECK(c.cluster.nodes.size() == 3);
  CHECK(c.cluster.nodes[1].address == "127.0.0.1");
  CHECK(c.cluster.nodes[1].shape->gres.size() == 2);
}

TEST_CASE("the least configuration is one partition, which is then the default") {
  const Config c = read(least);
  CHECK(c.daemon == DaemonSettings{});
  CHECK(c.cluster.settings == model::Settings{});
  CHECK(c.cluster.partitions[0].settings.is_default);
  CHECK(faults("cluster: x\n").find("there is no partition, so no job could run") != std::string::npos);
  CHECK(faults("cluster: x\npartitions: []\n").find("there is no partition, so no job could run") != std::string::npos);
}

TEST_CASE("every setting lands where it belongs") {
  const Config c = read(R"(
cluster: c1
controller: {state_dir: /s, socket: /k, listen: "[::1]:7000", ports_file: /p, log_level: debug, keep_events: 1d, keep_answers: 2h}
limits: {connections: 100, connections_per_user: 10, body: 1MiB, requests_per_second: 5.5, burst: 7, idle_timeout: 1s, request_timeout: 2s, agent_timeout: 3s}
administrators: {users: [zoe, ann], groups: ops}
agents: {heartbeat: 1s, silent_after: 5s, on_lost: assume_dead, lease: 10m, fence_program: /f, prolog: /pro, epilog: /epi, kill_grace: 5s, launch_backoff: 1m, max_launch_failures: 2}
jobs: {keep_ended: 1m, max_jobs: 10, default_time: 30m, default_memory_per_cpu: 2GiB, allow_root: true, overtime: 1m}
default_topology: fabric
switch_wait: literal
nodes:
  - {names: "n[01-03]", cpus: 8, memory: 16GiB, sockets: 2, threads_per_core: 2, gres: [gpu:a100:2, gpu:h100, nvme:1], address: "10.0.0.[1-3]", port: 7001, weight: 5, features: [b, a, b]}
  - names: [x1, "x[2-3]"]
partitions:
  - {name: p, nodes: "n[01-02],x1", max_time: 2-00:00:00, default_time: 90m, min_nodes: 1, max_nodes: 2, priority_tier: 3, exclusive: true,
     hidden: yes, allow_root: true, allow_users: [zoe, ann], deny_groups: guests, state: drain, topology: fabric, packing: none, weights: first, default_memory_per_node: 4GiB}
  - {name: q, nodes: ALL, default: true, max_time: UNLIMITED}
)");
  const DaemonSettings& d = c.daemon;
  CHECK(d.state_dir == "/s");
  CHECK(d.listen == Endpoint{"::1", 7000});
  CHECK(to_text(d.listen) == "[::1]:7000");
  CHECK(d.log_level == LogLevel::debug);
  CHECK(d.limits.body_bytes == 1'048'576);
  CHECK(d.limits.requests_per_second == 5.5);
  CHECK(d.limits.agent_timeout == std::chrono::seconds{3});
  CHECK(d.administrators.users == std::vector<std::string>{"ann", "zoe"});
  CHECK(d.administrators.groups == std::vector<std::string>{"ops"});
  CHECK(d.epilog == "/epi");
  const model::Settings& s = c.cluster.settings;
  CHECK(s.on_lost == model::Settings::OnLost::assume_dead);
  CHECK(s.lease == std::chrono::minutes{10});
  CHECK(s.fence_program == "/f");
  CHECK(s.max_launch_failures == 2);
  CHECK(s.allow_root_jobs);
  CHECK(s.default_memory_per_cpu == base::Mebibytes{2048});
  CHECK(s.default_topology == "fabric");
  CHECK(s.literal_switch_wait);
  CHECK(s.max_jobs == 10);
  REQUIRE(c.cluster.nodes.size() == 6);
  const auto& n2 = c.cluster.nodes[1];
  CHECK(n2.name == "n02");
  CHECK(n2.address == "10.0.0.2");
  CHECK(n2.port == 7001);
  CHECK(n2.features == std::vector<std::string>{"a", "b"});
  CHECK(n2.shape->cores_per_socket == 2);
  REQUIRE(n2.shape->gres.size() == 4);
  CHECK(n2.shape->gres[2].type == "h100");
  CHECK(n2.shape->gres[2].index == 2);  // numbered per name, across types
  CHECK(n2.shape->gres[3].name == "nvme");
  CHECK_FALSE(c.cluster.nodes[3].shape);
  CHECK(c.cluster.nodes[5].name == "x3");
  const model::Partition& p = c.cluster.partitions[0].settings;
  CHECK(p.max_time == std::chrono::hours{48});
  CHECK(p.default_time == std::chrono::minutes{90});
  CHECK(p.max_nodes == 2u);
  CHECK(p.exclusive_node);
  CHECK(p.hidden);
  CHECK(p.state == model::PartitionState::drain);
  CHECK(p.topology_optional);
  CHECK(p.weight_first);
  CHECK_FALSE(c.cluster.partitions[1].settings.weight_first);
  CHECK(p.allow_users == std::vector<std::string>{"ann", "zoe"});
  CHECK_FALSE(p.is_default);
  CHECK_FALSE(c.cluster.partitions[1].settings.max_time);
}

TEST_CASE("all faults of a configuration are told at once, with file, line, column and the nearest known key") {
  CHECK(faults(R"(cluster: "a b"
controler: {}
controller:
  socket: run/x
  listen: 6830
  log_level: verbose
agents:
  heartbeat: 30
  heartbeat: 10s
  silent_after: 10s
  on_lost: waits
limits:
  body: 1KB
nodes:
  - names: n[1-3]
    cpu: 4
    memory: 4 GB
    gres: [gpu:two:2:2]
  - names: n3
    cpus: 4
    memory: 1G
partitions:
  - name: batch
    nodes: n[1-4]
    max_time: 1h
    default_time: 2h
    default: maybe
  - name: batch
    nodes: ALL
)") == R"(switchyard.yaml:1:1: cluster: this can not be a cluster's name (given: a b); use letters, digits, '-', '_' and '.', at most 63
switchyard.yaml:2:1: controler: this key is not known here (limit: cluster, controller, limits, administrators, agents, jobs, default_topology, switch_wait, nodes, partitions); did you mean controller?
switchyard.yaml:4:3: controller.socket: the path must begin with / (given: run/x)
switchyard.yaml:5:3: controller.listen: the port is missing (given: 6830); write address:port, as in 0.0.0.0:6830 or [::1]:6830
switchyard.yaml:6:14: controller.log_level: the word is not known here (given: verbose) (limit: trace, debug, info, warning, error)
switchyard.yaml:8:3: agents.heartbeat: the span of time has no unit (given: 30); write a number with its unit: 500ms, 30s, 10m, 2h, 1d, 1h30m
switchyard.yaml:9:3: heartbeat: this key is written twice, first on line 8; keep one of them
switchyard.yaml:10:3: agents.silent_after: one late heartbeat would make a node silent (given: 10s) (limit: at least 20s, two heartbeats)
switchyard.yaml:11:12: agents.on_lost: the word is not known here (given: waits) (limit: wait, assume_dead); did you mean wait?
switchyard.yaml:13:3: limits.body: the size can not be read (given: 1KB); write bytes as in 100, 64KiB, 4MiB or 1GiB
switchyard.yaml:15:5: nodes[0].cpus: a node is declared with its CPUs and its memory, or with neither; add what is missing, or leave cpus, memory and gres out to take what registers
switchyard.yaml:16:5: nodes[0].cpu: this key is not known here (limit: names, cpus, sockets, cores_per_socket, threads_per_core, memory, gres, features, weight, port, address); did you mean cpus?
switchyard.yaml:17:5: nodes[0].memory: the amount of memory can not be read (given: 4 GB); write whole numbers with K, M, G or T, as in 1875M or 4G; without a letter they are MiB
switchyard.yaml:18:12: nodes[0].gres[0]: the GRES has too many colons (given: gpu:two:2:2); write name:count or name:type:count, as in gpu:2 or gpu:a100:4
switchyard.yaml:19:5: nodes[1].names: this node is declared twice, first on line 15 (given: n3); keep one of them
switchyard.yaml:24:5: partitions[0].nodes: no such node is declared (given: n4); did you mean n1?
switchyard.yaml:26:5: partitions[0].default_time: the default is more than the partition allows (given: 2:00:00) (limit: 1:00:00)
switchyard.yaml:27:14: partitions[0].default: true or false belongs here (given: maybe)
switchyard.yaml:28:5: partitions[1].name: this partition is declared twice, first on line 23 (given: batch); keep one of them)");
}

TEST_CASE("a configuration that contradicts itself is refused") {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"administrators: {users: []}", "nobody could administer this cluster"},
      {"agents: {lease: 30s}", "agents would end their jobs before their silence is noticed"},
      {"agents: {silent_after: 15s}", "one late heartbeat would make a node silent"},
      {"agents: {heartbeat: 0s}", "the span of time is out of range"},
      {"limits: {connections: 1}", "the number is out of range"},
      {"limits: {body: 1KiB}", "the size is out of range"},
      {"controller: {socket: /" + std::string(107, 'x') + "}", "the path is longer than 107 bytes"},
      {"controller: {listen: ':6830'}", "the address can not be read"},
      {"controller: {listen: '1.2.3.4:70000'}", "the port is not a number from 0 to 65535"},
      {"controller: {listen: '::1:6830'}", "the address can not be read"},
      {"nodes: [{names: ALL}]", "this can not be a node's name"},
      {"nodes: [{names: controller}]", "this can not be a node's name"},
      {"nodes: [{names: 'n[1'}]", "'[' is never closed"},
      {"nodes: [{names: 'n[0-999999999]'}]", "the host list names more than 262144 hosts"},
      {"nodes: [{names: 'n[0-200000]'}, {names: 'm[0-200000]'}]", "the cluster has more than 262144 nodes"},
      {"nodes: [{names: n1, cpus: 8, memory: 1G, sockets: 3, cores_per_socket: 2}]", "3 sockets of 2 cores of 1 threads are 6 CPUs"},
      {"nodes: [{names: n1, cpus: 0, memory: 1G}]", "the number is out of range"},
      {"nodes: [{names: n1, cpus: 1, memory: 0}]", "a node has some memory"},
      {"nodes: [{names: n1, cpus: 1}]", "a node is declared with its CPUs and its memory, or with neither"},
      {"nodes: [{names: 'n[1-3]', address: 'a[1-2]'}]", "there are 2 addresses for 3 names"},
      {"nodes: [{names: n1, cpus: 1, memory: 1G, gres: [gpu:1, gpu:2]}]", "this GRES is named twice"},
      {"nodes: [{names: n1, cpus: 1, memory: 1G, gres: gpu:0}]", "a GRES count is a whole number from 1 to 4096"},
      {"nodes: [{names: n1, cpus: 1, memory: 1G, gres: [gpu:4000, nvme:4000]}]", "a node has at most 4096 GRES instances"},
      {"nodes: [{names: n1, features: 'a,b'}]", "this can not be a feature's name"},
      {"nodes: [{}]", "this key is missing or empty"},
      {"nodes: 5", "a list belongs here"},
      {"default_topology: [a]", "a text belongs here"},
      {"switch_wait: blind", "ladder, literal"},
  };
  for (const auto& [text, message] : rows) {
    INFO(text);
    CHECK(faults(text + "\n" + least).find(message) != std::string::npos);
  }
  const std::vector<std::pair<std::string, std::string>> partitions{
      {"max_time: 0", "a time limit of 0 lets no job run"},
      {"max_time: soon", "the time can not be read"},
      {"min_nodes: 3, max_nodes: 2", "no number of nodes fits between min_nodes and max_nodes"},
      {"default_memory_per_cpu: 1G, default_memory_per_node: 1G", "memory is given per CPU and per node"},
      {"allow_users: []", "an empty list admits nobody and everybody"},
      {"allow_users: [a b]", "this can not be the name of a user or group"},
      {"state: dwon", "did you mean down?"},
      {"priority_tier: -1", "the number is out of range"},
      {"prioritytier: 1", "did you mean priority_tier?"},
  };
  for (const auto& [text, message] : partitions) {
    INFO(text);
    CHECK(faults("partitions: [{name: p, nodes: ALL, " + text + "}]").find(message) != std::string::npos);
  }
  CHECK(faults("partitions: [{name: a, nodes: ALL, default: true}, {name: b, nodes: ALL, default: true}]")
            .find("a is the default partition already") != std::string::npos);
  CHECK(faults("partitions: [{name: a b, nodes: ALL}]").find("this can not be a partition's name") != std::string::npos);
}

TEST_CASE("a file that is no configuration is refused, and an alias bomb does not explode") {
  CHECK_FALSE(faults("").empty());
  CHECK_FALSE(faults("just words").empty());
  CHECK_FALSE(faults("[1, 2]").empty());
  CHECK_FALSE(faults("a: {b").empty());
  CHECK_FALSE(faults(least + "---\n" + least).empty());
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 20; ++i)
    bomb += fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i, i - 1);
  CHECK(faults(bomb).size() < 100'000);
  // Very many faults are counted, not all printed.
  std::string many = least;
  for (int i = 0; i < 5'000; ++i) many += fmt::format("k{}: 1\n", i);
  CHECK(faults(many).find("\nand 4800 more") != std::string::npos);
}

TEST_CASE("settings that are read at start only are named when they change") {
  DaemonSettings a, b;
  CHECK(needs_restart(a, b).empty());
  b.listen.port = 1;
  b.state_dir = "/x";
  b.heartbeat = std::chrono::seconds{1};
  b.administrators.users = {"ann"};
  CHECK(needs_restart(a, b) == std::vector<std::string>{"controller.state_dir", "controller.listen"});
}
