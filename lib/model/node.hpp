// A compute node: what was declared, what it registered, what is held on it, and whether it may be used.
// Not its liveness clock: silence is measured by the controller's monotonic clock and arrives as a command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/id.hpp"
#include "base/resources.hpp"
#include "base/time.hpp"

namespace sy::model {

// One device: index is what the agent and CUDA_VISIBLE_DEVICES call it. Capacity in thousandths (1000 = whole).
struct GresInstance {
  std::string name;
  std::string type;
  std::uint32_t index{};
  std::uint32_t capacity{1000};
  std::string device;       // "/dev/nvidia0"; empty: count only
  bool operator==(const GresInstance&) const = default;
};

// What a node is said to be, by the configuration, or is, by registration.
struct NodeShape {
  std::uint32_t cpus{1};
  std::uint32_t sockets{1}, cores_per_socket{1}, threads_per_core{1};
  base::Mebibytes memory{};
  std::vector<GresInstance> gres;        // sorted by name, type, index
  bool operator==(const NodeShape&) const = default;
};

enum class Contact : std::uint8_t {
  never,      // declared or enrolled, has not registered
  up,
  silent,     // no heartbeat for the configured time
  fenced      // cut off: what ran there has been declared ended
};

struct Node {
  base::NodeIndex index;
  std::string name;
  bool removed{};                        // tombstone: keeps the index
  bool declared{};                       // named in the configuration (otherwise enrolled only)
  bool shape_declared{};                 // the configuration says its shape too
  NodeShape shape;                       // in force: the declared one; the registered one when nothing was declared
  std::optional<NodeShape> registered;
  std::vector<std::string> features;     // sorted
  std::uint32_t weight{1};
  std::vector<std::pair<std::string, std::string>> labels;  // reported by the agent

  std::string address;                   // host the controller connects to
  std::uint16_t port{};
  std::string public_key;                // Ed25519, base64; empty: not enrolled
  std::string boot_id;
  std::string spool_id;
  std::string version;

  Contact contact{Contact::never};
  bool drained{};                        // no new work: by an administrator, or by us with the reason
  bool down{};                           // said to be down by an administrator
  std::string reason;
  std::optional<base::Time> reason_at;
  std::string reason_by;                 // user, or "switchyard"
  std::optional<base::Time> boot_time;
  std::optional<base::Time> registered_at;

  base::Resources total;                 // from shape
  base::Resources held;                  // Σ of grants not yet clear or fenced
  std::vector<base::JobId> jobs;         // ascending; those with such grants
  std::vector<base::JobId> gres_holder;  // per instance: who holds it, JobId{0}: free
  bool operator==(const Node&) const = default;

  bool usable() const { return !removed && contact == Contact::up && !drained && !down; }
};

// What a node of this shape has to give: CPUs, memory, GRES counted per name and type.
base::Resources total_of(const NodeShape&);

// "idle", "mixed", "allocated", "drained", "draining", "down", "unknown" as sinfo prints them (without suffix), and "fenced".
std::string_view node_state_name(const Node&);

}  // namespace sy::model
