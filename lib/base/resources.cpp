#include "base/resources.hpp"

#include <algorithm>
#include <tuple>

namespace sy::base {

namespace {
bool before(const GresCount& g, const std::string& name, const std::string& type) {
  return std::tie(g.name, g.type) < std::tie(name, type);
}
}  // namespace

void Resources::add_gres(const std::string& name, const std::string& type, std::int64_t count) {
  auto it = std::lower_bound(gres.begin(), gres.end(), 0, [&](const GresCount& g, int) { return before(g, name, type); });
  if (it == gres.end() || it->name != name || it->type != type) it = gres.insert(it, GresCount{name, type, 0});
  it->count += count;
  if (it->count == 0) gres.erase(it);
}

std::int64_t Resources::gres_count(const std::string& name, const std::string& type) const {
  for (const auto& g : gres)
    if (g.name == name && g.type == type) return g.count;
  return 0;
}

Resources& Resources::operator+=(const Resources& o) {
  cpus += o.cpus;
  memory += o.memory;
  for (const auto& g : o.gres) add_gres(g.name, g.type, g.count);
  return *this;
}

Resources& Resources::operator-=(const Resources& o) {
  cpus -= o.cpus;
  memory -= o.memory;
  for (const auto& g : o.gres) add_gres(g.name, g.type, -g.count);
  return *this;
}

bool Resources::any_negative() const {
  return cpus.value < 0 || memory.value < 0 || std::any_of(gres.begin(), gres.end(), [](const GresCount& g) { return g.count < 0; });
}

bool Resources::fits_in(const Resources& free) const {
  return cpus <= free.cpus && memory <= free.memory &&
         std::all_of(gres.begin(), gres.end(), [&](const GresCount& g) { return g.count <= free.gres_count(g.name, g.type); });
}

}  // namespace sy::base
