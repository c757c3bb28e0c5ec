// How often one principal may ask: a token bucket each.
// Not how much one request may cost: handlers bound that themselves.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "base/result.hpp"
#include "daemon/runtime/clock.hpp"

namespace sy::daemon {

class RateLimit {
 public:
  // `per_second` tokens flow in, up to `burst`. Refuses with too_many.
  base::Result<void> take(const std::string& principal, double per_second, double burst, Monotonic now);
  std::size_t size() const { return buckets_.size(); }

 private:
  struct Bucket {
    double tokens;
    Monotonic at;
  };
  std::unordered_map<std::string, Bucket> buckets_;
};

}  // namespace sy::daemon
