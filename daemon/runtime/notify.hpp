// What systemd wants to hear: ready, reloading, stopping, still alive. Does nothing when it did not start us.
// Not a judgement: the caller knows whether it is alive.
#pragma once

#include <optional>
#include <string_view>

#include "base/time.hpp"

namespace sy::daemon {

void notify_ready(std::string_view status);
void notify_reloading();
void notify_stopping();
void notify_watchdog();
// Half of what systemd allows between two signs of life; absent: no watchdog.
std::optional<base::Duration> watchdog_interval();

}  // namespace sy::daemon
