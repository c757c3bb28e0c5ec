// Runs the site's fence program ("PROGRAM NODE") and tells how it ended. One run per node at a time, with a pause after a failure.
// Not the decision to fence and not what follows from it: core.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/id.hpp"
#include "base/time.hpp"
#include "daemon/runtime/worker.hpp"

namespace sy::daemon {

struct ProgramEnd {
  int code{-1};           // exit status; -1: did not start, was killed, or took too long
  std::string what;       // "exit code 3", "did not end within 60 s", and the last of what it printed, in one line
};
// Runs and waits; an empty environment but for PATH, what it prints is read and mostly dropped. `limit`: then SIGKILL.
ProgramEnd run_program(const std::string& path, const std::string& argument, base::Duration limit);

class FenceProgram {
 public:
  // `fenced` is called on the loop after exit status 0; `again` when a pause after a failure is over.
  FenceProgram(http::Loop& loop, std::function<void(base::NodeIndex)> fenced, std::function<void(base::NodeIndex)> again)
      : loop_(loop), fenced_(std::move(fenced)), again_(std::move(again)), worker_(loop) {}
  void run(base::NodeIndex, const std::string& node_name, const std::string& program);
  void set_limit(base::Duration limit) { limit_ = limit; }
  void set_pause(base::Duration pause) { pause_ = pause; }

 private:
  struct Entry {
    explicit Entry(http::Loop& loop) : pause(loop) {}
    bool running{};
    http::Timer pause;
  };
  http::Loop& loop_;
  std::function<void(base::NodeIndex)> fenced_, again_;
  base::Duration limit_{std::chrono::seconds{60}}, pause_{std::chrono::seconds{30}};
  std::map<base::NodeIndex, std::unique_ptr<Entry>> entries_;
  Worker worker_;
};

}  // namespace sy::daemon
