// Which CPUs of the node are bound to which attempt: the lowest free ones in the machine's own order, whole CPUs only.
// Not the enforcement: the supervisor's control group does that.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "base/quantity.hpp"

namespace sy::daemon {

class CpuBinding {
 public:
  CpuBinding() = default;                       // binds nothing
  explicit CpuBinding(std::vector<int> cpus) : cpus_(std::move(cpus)) {}
  // Empty: not bound, because CPUs are asked in parts or, after such, too few whole ones are free.
  std::vector<int> take(base::Cpus);
  void hold(const std::vector<int>& cpus);      // of an attempt found in the spool
  void release(const std::vector<int>& cpus);

 private:
  std::vector<int> cpus_;
  std::set<int> held_;
};

}  // namespace sy::daemon
