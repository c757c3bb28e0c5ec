#include "daemon/agent/supervisors.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "daemon/runtime/log.hpp"

namespace sy::daemon {

namespace {

constexpr const char* socket_name = "agent.sock";

sockaddr_un address_of(const std::string& path) {
  sockaddr_un a{};
  a.sun_family = AF_UNIX;
  std::memcpy(a.sun_path, path.c_str(), std::min(path.size(), sizeof a.sun_path - 1));
  return a;
}

bool send_to(const std::string& path, std::string_view text) {
  const supervisor::Descriptor fd{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  const sockaddr_un to = address_of(path);
  return ::sendto(fd.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&to), sizeof to) >= 0;
}

std::optional<AttemptKey> parse_name(std::string_view text) {
  AttemptKey key;
  const auto dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  std::from_chars(text.data(), text.data() + dot, key.job.value);
  std::from_chars(text.data() + dot + 1, text.data() + text.size(), key.attempt.value);
  return key;
}

// Its own session, default signals, no descriptor of ours; its words go to the attempt's log.
class SpawnSettings {
 public:
  explicit SpawnSettings(const std::string& log) {
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_init(&actions);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
    ::posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
    ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
    ::posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  }
  ~SpawnSettings() {
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
};

}  // namespace

Supervisors::Supervisors(http::Loop& loop, const Spool& spool, std::string program, Changed changed)
    : spool_(spool), loop_(loop), program_(std::move(program)), changed_(std::move(changed)) {
  socket_ = supervisor::Descriptor{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  spool_.root().remove(socket_name);
  const sockaddr_un at = address_of(spool_.root().proc_path(socket_name));
  if (!socket_ || ::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0)
    throw std::system_error(errno, std::generic_category(), "could not listen for supervisors");
  loop_.on_signals({SIGCHLD}, [this](int) { reap(); });
  listener_ = std::thread([this, fd = socket_.get()] { listen(fd); });
}

Supervisors::~Supervisors() {
  ::shutdown(socket_.get(), SHUT_RDWR);  // wakes the listener, whatever has become of the spool
  listener_.join();
}

void Supervisors::listen(int fd) {
  std::array<char, 128> buffer{};
  for (;;) {
    const ssize_t n = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    if (const auto key = parse_name({buffer.data(), static_cast<std::size_t>(n)})) loop_.post([this, k = *key] { changed_(k, false); });
  }
}

base::Result<void> Supervisors::start(AttemptKey key, bool cleaning) {
  const std::string folder = spool_.path(key);
  SpawnSettings settings{folder + "/" + supervisor::file::log};
  std::string program = program_, option = "--clean", path = folder;
  std::array<char*, 4> words{program.data(), path.data(), nullptr, nullptr};
  if (cleaning) words = {program.data(), option.data(), path.data(), nullptr};
  std::string search = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
  std::array<char*, 2> environment{search.data(), nullptr};
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, program_.c_str(), &settings.actions, &settings.attributes, words.data(), environment.data());
  if (error != 0)
    return base::fail(base::Code::unavailable, std::string{"the supervisor could not be started: "} + std::strerror(error), "supervisor",
                      program_);
  children_.emplace(pid, key);
  return {};
}

void Supervisors::reap() {
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid <= 0) return;
    const auto child = children_.find(pid);
    if (child == children_.end()) continue;
    const AttemptKey key = child->second;
    children_.erase(child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
      log_warning("the supervisor of attempt {} ended with status {:#x}", to_text(key), status);
    changed_(key, true);
  }
}

bool Supervisors::is_child(AttemptKey key) const {
  return std::any_of(children_.begin(), children_.end(), [&](const auto& c) { return c.second == key; });
}

bool Supervisors::lives(AttemptKey key) const { return !spool_.folder(key).lock(supervisor::file::lock); }

bool Supervisors::tell(AttemptKey key, const std::string& message) const {
  return send_to(spool_.folder(key).proc_path(supervisor::file::control), message);
}

}  // namespace sy::daemon
