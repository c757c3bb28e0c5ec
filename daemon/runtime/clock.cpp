#include "daemon/runtime/clock.hpp"

namespace sy::daemon {

base::Time wall_now() {
  return base::Time{std::chrono::duration_cast<base::Duration>(std::chrono::system_clock::now().time_since_epoch())};
}

}  // namespace sy::daemon
