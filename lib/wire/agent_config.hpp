// An agent's settings file, /etc/switchyard/agent.yaml: who the node is, where its controller listens, what it offers.
// Reads no file itself and does not look at the machine: what is not declared here is for the agent to find out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quantity.hpp"
#include "base/result.hpp"
#include "model/node.hpp"
#include "wire/config.hpp"

namespace sy::wire {

struct AgentSettings {
  std::string name;                               // empty: the machine's short host name
  std::string node_address;                       // told to the controller; empty: the address it sees
  Endpoint controller;                            // required
  Endpoint listen{"0.0.0.0", 6831};               // "port" alone changes only the port; 0: the kernel chooses
  std::string spool{"/var/spool/switchyard-agent"};
  std::string job_files;                          // what jobs are told about their placement; empty: beside the spool, <spool>-jobs
  std::string key_dir;                            // empty: <spool>/keys
  std::string supervisor;                         // path of switchyard-supervisor; empty: beside the agent
  std::string boot_id_file{"/proc/sys/kernel/random/boot_id"};
  std::string cgroup_root{"/sys/fs/cgroup"};
  std::string prolog, epilog;                     // empty: what the controller says
  bool allow_root{};                              // run jobs of uid 0; whoever holds the controller's key could ask for them
  LogLevel log_level{LogLevel::info};

  // Absent: what the machine has.
  std::optional<std::uint32_t> cpus, sockets, cores_per_socket, threads_per_core;
  std::optional<base::Mebibytes> memory;
  std::optional<std::vector<model::GresInstance>> gres;  // sorted by name, type, index; with devices where given
  std::vector<std::pair<std::string, std::string>> labels;  // sorted
  base::Duration request_timeout{std::chrono::seconds{10}};
  bool operator==(const AgentSettings&) const = default;
};

// As read_config: all faults at once, each with file, line and column.
base::Result<AgentSettings> read_agent_config(std::string_view text, std::string_view file);

}  // namespace sy::wire
