// The event loop of a daemon: one thread runs what sockets, timers, signals and other threads hand in.
// Not a thread pool: everything given to it runs on the thread that calls run(), one after another.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>

#include "base/time.hpp"

namespace sy::http {

class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void run();                              // until stop(); an exception of a callback comes out here
  void stop();                             // from any thread
  void post(std::function<void()>);        // from any thread; runs soon, in the order posted
  // Each delivery of one of these signals, on the loop's thread, for as long as the loop lives.
  void on_signals(std::initializer_list<int> signals, std::function<void(int)>);

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// One timer. Monotonic clock; starting it again forgets what it waited for; destruction cancels.
class Timer {
 public:
  explicit Timer(Loop&);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  void start(base::Duration after, std::function<void()>);
  void cancel();
  bool running() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace sy::http
