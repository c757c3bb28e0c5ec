#include "daemon/api/rate_limit.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sy::daemon {

base::Result<void> RateLimit::take(const std::string& principal, double per_second, double burst, Monotonic now) {
  constexpr std::size_t most = 100'000;
  const auto refilled = [&](const Bucket& b) {
    return std::min(burst, b.tokens + per_second * std::chrono::duration<double>(now - b.at).count());
  };
  if (buckets_.size() > most) std::erase_if(buckets_, [&](const auto& each) { return refilled(each.second) >= burst; });  // full: as new
  const auto [at, fresh] = buckets_.try_emplace(principal, Bucket{burst, now});
  Bucket& bucket = at->second;
  bucket.tokens = refilled(bucket);
  bucket.at = now;
  if (bucket.tokens < 1)
    return base::fail(base::Error{base::Code::too_many,
                                  "you ask too often",
                                  {},
                                  fmt::format("{} requests a second", per_second),
                                  {},
                                  "ask less often, or for more at once; waiting for a job: ?wait=30&for=ended"});
  bucket.tokens -= 1;
  return {};
}

}  // namespace sy::daemon
