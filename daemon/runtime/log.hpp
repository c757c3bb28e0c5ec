// What a daemon says to its administrator: one line each on standard error, with a level the journal understands.
// Not for answers to users and never for secrets.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace sy::daemon {

enum class LogAt : unsigned char { trace, debug, info, warning, error };

// Under systemd the journal adds the time: none is written then.
void start_log(LogAt lowest);
void set_log_level(LogAt lowest);
bool logs(LogAt);
void log_line(LogAt, std::string_view text);   // control characters are escaped: a name can not forge a line

template <class... A>
void log_at(LogAt level, fmt::format_string<A...> format, A&&... values) {
  if (logs(level)) log_line(level, fmt::format(format, std::forward<A>(values)...));
}
template <class... A>
void log_debug(fmt::format_string<A...> format, A&&... values) {
  log_at(LogAt::debug, format, std::forward<A>(values)...);
}
template <class... A>
void log_info(fmt::format_string<A...> format, A&&... values) {
  log_at(LogAt::info, format, std::forward<A>(values)...);
}
template <class... A>
void log_warning(fmt::format_string<A...> format, A&&... values) {
  log_at(LogAt::warning, format, std::forward<A>(values)...);
}
template <class... A>
void log_error(fmt::format_string<A...> format, A&&... values) {
  log_at(LogAt::error, format, std::forward<A>(values)...);
}

}  // namespace sy::daemon
