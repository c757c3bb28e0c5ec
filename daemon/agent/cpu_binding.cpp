#include "daemon/agent/cpu_binding.hpp"

namespace sy::daemon {

std::vector<int> CpuBinding::take(base::Cpus wanted) {
  if (wanted.value <= 0 || wanted.value % 1000 != 0) return {};
  const auto count = static_cast<std::size_t>(wanted.value / 1000);
  std::vector<int> out;
  for (const int c : cpus_) {
    if (out.size() == count) break;
    if (!held_.contains(c)) out.push_back(c);
  }
  if (out.size() < count) return {};
  hold(out);
  return out;
}

void CpuBinding::hold(const std::vector<int>& cpus) { held_.insert(cpus.begin(), cpus.end()); }

void CpuBinding::release(const std::vector<int>& cpus) {
  for (const int c : cpus) held_.erase(c);
}

}  // namespace sy::daemon
