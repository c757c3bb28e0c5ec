#include "daemon/runtime/notify.hpp"

#include <systemd/sd-daemon.h>
#include <time.h>

#include <string>

namespace sy::daemon {

void notify_ready(std::string_view status) { ::sd_notify(0, ("READY=1\nSTATUS=" + std::string(status)).c_str()); }

void notify_reloading() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const auto us = static_cast<long long>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000;
  ::sd_notify(0, ("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(us)).c_str());
}

void notify_stopping() { ::sd_notify(0, "STOPPING=1"); }
void notify_watchdog() { ::sd_notify(0, "WATCHDOG=1"); }

std::optional<base::Duration> watchdog_interval() {
  std::uint64_t us = 0;
  if (::sd_watchdog_enabled(0, &us) <= 0 || us == 0) return std::nullopt;
  return base::Duration{static_cast<std::int64_t>(us / 2)};
}

}  // namespace sy::daemon
