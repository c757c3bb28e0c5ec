// A resource vector: what a node has, what a job holds, what is free. GRES are counted per (name, type).
// Not the request language (model/resource_request.hpp) and not which instance (model/node.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/quantity.hpp"

namespace sy::base {

struct GresCount {
  std::string name;  // "gpu"
  std::string type;  // "a100"; empty: untyped
  std::int64_t count{};
  bool operator==(const GresCount&) const = default;
};

struct Resources {
  Cpus cpus;
  Mebibytes memory;
  std::vector<GresCount> gres;  // sorted by name, type; no zero entries

  bool operator==(const Resources&) const = default;
  Resources& operator+=(const Resources&);
  Resources& operator-=(const Resources&);  // may become negative: the caller checks
  bool any_negative() const;
  bool fits_in(const Resources& free) const;  // every component of this ≤ free
  std::int64_t gres_count(const std::string& name, const std::string& type) const;
  void add_gres(const std::string& name, const std::string& type, std::int64_t count);
};

}  // namespace sy::base
