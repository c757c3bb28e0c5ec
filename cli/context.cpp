#include "cli/context.hpp"

#include <pwd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <ctime>

#include "base/named_limits.hpp"
#include "cli/http_transport.hpp"

extern char** environ;

namespace sy::cli {

std::optional<std::string> Context::env(std::string_view name) const {
  for (const auto& pair : environment)
    if (pair.size() > name.size() && pair[name.size()] == '=' && pair.compare(0, name.size(), name) == 0)
      return pair.substr(name.size() + 1);
  return std::nullopt;
}

std::string Context::socket_path() const {
  if (!socket.empty()) return socket;
  if (auto named = env("SWITCHYARD_SOCKET"); named && !named->empty()) return *named;
  return std::string{default_socket};
}

std::string Context::me() {
  if (user.empty() && look_up_user) user = look_up_user();
  return user.empty() ? std::to_string(uid) : user;
}

Transport& Context::transport() {
  if (!transport_) transport_ = connect(socket_path());
  return *transport_;
}

namespace {

std::string read_all(std::FILE* in) {
  std::string text;
  std::array<char, 1U << 16U> piece;
  for (std::size_t n = 0; (n = std::fread(piece.data(), 1, piece.size(), in)) > 0;) text.append(piece.data(), n);
  return text;
}

std::string current_directory() {
  std::array<char, 4096> buffer{};
  return ::getcwd(buffer.data(), buffer.size()) != nullptr ? std::string{buffer.data()} : std::string{};
}

std::optional<std::string> one_line() {
  std::array<char, 1024> line{};
  if (std::fgets(line.data(), line.size(), stdin) == nullptr) return std::nullopt;
  std::string text{line.data()};
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

// The soft limits and the umask of this process, which the shell that called it set.
std::vector<std::string> limits() {
  std::vector<std::string> out;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  std::array<char, 8> octal{};
  std::snprintf(octal.data(), octal.size(), "%04o", static_cast<unsigned>(mask));
  out.push_back(std::string{"SLURM_UMASK="} + octal.data());
  for (const auto& [name, which] : base::named_limits) {
    rlimit limit{};
    if (::getrlimit(which, &limit) != 0) continue;
    out.push_back("SLURM_RLIMIT_" + std::string{name} + "=" +
                  (limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur)));
  }
  return out;
}

// What is set in COLUMNS counts before what the terminal says, as for other programs.
int terminal_width(bool tty, const std::string& set) {
  int columns = 0;
  if (std::from_chars(set.data(), set.data() + set.size(), columns).ec == std::errc{} && columns > 0) return columns;
  if (!tty) return 80;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

}  // namespace

std::unique_ptr<Context> process_context() {
  auto context = std::make_unique<Context>(stdout, stderr);
  for (char** e = environ; *e != nullptr; ++e) context->environment.emplace_back(*e);
  const bool tty = ::isatty(STDOUT_FILENO) == 1;
  context->out.set_tty(tty, terminal_width(tty, context->env("COLUMNS").value_or("")));
  context->read_stdin = [] { return read_all(stdin); };
  context->read_line = one_line;
  context->stdin_is_tty = ::isatty(STDIN_FILENO) == 1;
  context->now_us = [] {
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  };
  context->sleep_ms = [](int ms) {
    timespec span{ms / 1000, (ms % 1000) * 1'000'000L};
    ::nanosleep(&span, nullptr);
  };
  context->uid = ::geteuid();
  // Only when it is asked for: the name service may be far away, and most commands do without.
  context->look_up_user = [uid = context->uid] {
    const passwd* entry = ::getpwuid(uid);
    return entry != nullptr ? std::string{entry->pw_name} : std::string{};
  };
  context->look_up_limits = limits;
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  context->host = host.data();
  context->work_dir = current_directory();
  context->connect = http_transport;
  return context;
}

}  // namespace sy::cli
