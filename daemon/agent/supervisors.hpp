// Starts supervisors, hears of their end, and talks to living ones. Outliving us is their point: nothing here ends one.
// Not what their files mean (spool.hpp).
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "daemon/agent/spool.hpp"
#include "http/loop.hpp"

namespace sy::daemon {

class Supervisors {
 public:
  // `changed` is called on the loop whenever a supervisor says that its folder has news, and when one ended (ended = true).
  using Changed = std::function<void(AttemptKey, bool ended)>;
  Supervisors(http::Loop&, const Spool&, std::string program, Changed);
  ~Supervisors();
  Supervisors(const Supervisors&) = delete;
  Supervisors& operator=(const Supervisors&) = delete;

  base::Result<void> start(AttemptKey, bool cleaning);
  bool is_child(AttemptKey) const;                 // started by this agent and not yet ended
  bool lives(AttemptKey) const;                    // holds its lock, whoever started it
  // A line to its control socket; false: nobody listens (not yet, or no more).
  bool tell(AttemptKey, const std::string& message) const;

 private:
  void reap();
  void listen(int fd);
  const Spool& spool_;
  http::Loop& loop_;
  std::string program_;
  Changed changed_;
  std::map<pid_t, AttemptKey> children_;
  supervisor::Descriptor socket_;
  std::thread listener_;
};

}  // namespace sy::daemon
