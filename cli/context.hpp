// What a command may use of the world it runs in: streams, environment, the clock, who and where, and the way to the
// controller. Tests fill it by hand. Not the command's own state.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/output.hpp"
#include "cli/transport.hpp"

namespace sy::cli {

struct Context {
  std::string program{"sy"};             // what messages begin with: "sbatch", "sy queue"
  std::vector<std::string> environment;  // "A=b"
  Output out;
  Output err;
  std::function<std::string()> read_stdin;
  std::function<std::optional<std::string>()> read_line;  // one answer of a person; absent at the end
  bool stdin_is_tty{};
  std::function<std::int64_t()> now_us;  // microseconds since 1970
  std::function<void(int)> sleep_ms;
  std::uint32_t uid{};
  std::string user, host, work_dir;      // user: known from the start, or looked up by me()
  std::function<std::string()> look_up_user;
  std::function<std::vector<std::string>()> look_up_limits;  // "SLURM_UMASK=0022", "SLURM_RLIMIT_NOFILE=1024": what a job inherits
  std::function<std::unique_ptr<Transport>(const std::string& socket)> connect;
  std::string socket;  // --socket; empty: SWITCHYARD_SOCKET, then the usual place

  Context() = default;
  Context(std::FILE* out_stream, std::FILE* err_stream) : out(out_stream), err(err_stream) {}

  std::optional<std::string> env(std::string_view name) const;
  std::string socket_path() const;
  std::string me();        // the user's name; the uid in digits where it has none
  Transport& transport();  // connects on first use

 private:
  std::unique_ptr<Transport> transport_;
};

inline constexpr std::string_view default_socket = "/run/switchyard/switchyardd.sock";

// The process as it is: stdio, environ, uid, host name, clock.
std::unique_ptr<Context> process_context();

}  // namespace sy::cli
