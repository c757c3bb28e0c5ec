#include "daemon/agent/machine.hpp"

#include <fmt/format.h>
#include <hwloc.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "daemon/runtime/clock.hpp"
#include "daemon/runtime/private_folder.hpp"

namespace sy::daemon {

namespace {

constexpr std::uint64_t bytes_per_mib = 1024 * 1024;
constexpr std::uint32_t most_devices = 64;

struct Found {
  std::uint32_t sockets{1}, cores{1};
  std::uint64_t memory_bytes{};
  std::vector<int> cpus;
};

Found ask_hwloc() {
  Found out;
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return out;
  const std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)> owner{topology, &hwloc_topology_destroy};
  if (hwloc_topology_load(topology) != 0) return out;
  const auto count = [&](hwloc_obj_type_t type) {
    return static_cast<std::uint32_t>(std::max(1, hwloc_get_nbobjs_by_type(topology, type)));
  };
  out.sockets = count(HWLOC_OBJ_PACKAGE);
  out.cores = count(HWLOC_OBJ_CORE);
  out.memory_bytes = hwloc_get_root_obj(topology)->total_memory;
  for (hwloc_obj_t pu = nullptr; (pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu)) != nullptr;)
    out.cpus.push_back(static_cast<int>(pu->os_index));
  return out;
}

// Only what names itself beyond doubt: render nodes may belong to a display.
std::vector<model::GresInstance> find_gpus() {
  std::vector<model::GresInstance> out;
  for (std::uint32_t i = 0; i < most_devices; ++i) {
    const std::string device = "/dev/nvidia" + std::to_string(i);
    if (::access(device.c_str(), F_OK) == 0) out.push_back({"gpu", "", i, 1000, device});
  }
  return out;
}

void set_shape(const wire::AgentSettings& s, const Found& found, model::NodeShape& shape) {
  const auto real = static_cast<std::uint32_t>(std::max<std::size_t>(found.cpus.size(), 1));
  shape.cpus = s.cpus.value_or(real);
  if (!s.cpus && !s.sockets) {
    shape.sockets = found.sockets;
    shape.cores_per_socket = std::max(1U, found.cores / found.sockets);
    shape.threads_per_core = std::max(1U, real / found.cores);
  } else {
    shape.sockets = s.sockets.value_or(1);
    shape.threads_per_core = s.threads_per_core.value_or(1);
    shape.cores_per_socket = s.cores_per_socket.value_or(std::max(1U, shape.cpus / shape.sockets / shape.threads_per_core));
  }
  shape.memory = s.memory.value_or(base::Mebibytes{static_cast<std::int64_t>(found.memory_bytes / bytes_per_mib)});
  shape.gres = s.gres ? *s.gres : find_gpus();
}

}  // namespace

base::Result<Machine> look_at_machine(const wire::AgentSettings& settings) {
  Machine out;
  const Found found = ask_hwloc();
  set_shape(settings, found, out.shape);
  // An agent that offers part of a machine, or more than there is, shares it with others that would bind to the same CPUs.
  if (out.shape.cpus == found.cpus.size()) out.cpus = found.cpus;
  else
    out.warning =
        fmt::format("the node offers {} CPUs and this machine has {}: jobs are not bound to CPUs", out.shape.cpus, found.cpus.size());
  const auto boot = read_file(settings.boot_id_file, 256);
  if (!boot) return base::fail(boot.error());
  out.boot_id = boot->substr(0, boot->find_first_of(" \r\n"));
  if (out.boot_id.empty())
    return base::fail(base::Code::invalid_argument, "the file holds no boot id", "boot_id_file", settings.boot_id_file);
  timespec up{};
  if (::clock_gettime(CLOCK_BOOTTIME, &up) == 0) out.boot_time = wall_now() - std::chrono::seconds{up.tv_sec};
  return out;
}

}  // namespace sy::daemon
