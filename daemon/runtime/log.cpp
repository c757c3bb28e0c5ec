#include "daemon/runtime/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>

namespace sy::daemon {

namespace {
spdlog::level::level_enum level_of(LogAt level) {
  switch (level) {
    case LogAt::trace: return spdlog::level::trace;
    case LogAt::debug: return spdlog::level::debug;
    case LogAt::info: return spdlog::level::info;
    case LogAt::warning: return spdlog::level::warn;
    case LogAt::error: return spdlog::level::err;
  }
  return spdlog::level::info;
}
}  // namespace

void start_log(LogAt lowest) {
  auto logger = std::make_shared<spdlog::logger>("switchyard", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern(std::getenv("JOURNAL_STREAM") != nullptr ? "%l: %v" : "%Y-%m-%dT%H:%M:%S.%e%z %l: %v");
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
  set_log_level(lowest);
}

void set_log_level(LogAt lowest) { spdlog::set_level(level_of(lowest)); }

bool logs(LogAt level) { return spdlog::default_logger_raw()->should_log(level_of(level)); }

void log_line(LogAt level, std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) clean += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else clean += c;
  }
  spdlog::default_logger_raw()->log(level_of(level), "{}", clean);
}

}  // namespace sy::daemon
