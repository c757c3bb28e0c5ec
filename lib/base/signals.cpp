#include "base/signals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>

namespace sy::base {
namespace {

struct Named {
  std::string_view name;
  int number;
};
// The first name of a number is the one that is printed.
constexpr std::array<Named, 34> names{{
    {"HUP", SIGHUP},       {"INT", SIGINT},   {"QUIT", SIGQUIT},   {"ILL", SIGILL},   {"TRAP", SIGTRAP}, {"ABRT", SIGABRT},
    {"BUS", SIGBUS},       {"FPE", SIGFPE},   {"KILL", SIGKILL},   {"USR1", SIGUSR1}, {"SEGV", SIGSEGV}, {"USR2", SIGUSR2},
    {"PIPE", SIGPIPE},     {"ALRM", SIGALRM}, {"TERM", SIGTERM},   {"CHLD", SIGCHLD}, {"CONT", SIGCONT}, {"STOP", SIGSTOP},
    {"TSTP", SIGTSTP},     {"TTIN", SIGTTIN}, {"TTOU", SIGTTOU},   {"URG", SIGURG},   {"XCPU", SIGXCPU}, {"XFSZ", SIGXFSZ},
    {"VTALRM", SIGVTALRM}, {"PROF", SIGPROF}, {"WINCH", SIGWINCH}, {"IO", SIGIO},     {"PWR", SIGPWR},   {"SYS", SIGSYS},
    {"STKFLT", 16},        {"POLL", SIGIO},   {"IOT", SIGABRT},    {"CLD", SIGCHLD},
}};
constexpr int highest = 64;

}  // namespace

Result<int> parse_signal(std::string_view text) {
  const auto refuse = [&] {
    return fail(Error{Code::invalid_argument,
                      "unknown signal",
                      {},
                      "a name such as TERM or SIGUSR1, or a number from 1 to 64",
                      std::string(text.substr(0, 80)),
                      {}});
  };
  if (!text.empty() && text.size() <= 3 && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    int n = 0;
    for (char c : text) n = n * 10 + (c - '0');
    if (n < 1 || n > highest) return refuse();
    return n;
  }
  if (text.size() > 16) return refuse();
  std::string upper(text);
  for (char& c : upper)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  std::string_view name = upper;
  if (name.starts_with("SIG")) name.remove_prefix(3);
  for (const Named& n : names)
    if (n.name == name) return n.number;
  return refuse();
}

std::string signal_name(int number) {
  for (const Named& n : names)
    if (n.number == number) return fmt::format("SIG{}", n.name);
  return fmt::format("signal {}", number);
}

}  // namespace sy::base
