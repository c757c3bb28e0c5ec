// A thread for what blocks (disk, name service, child processes): work runs there in order, its sequel on the loop.
// Not a pool: order is kept. The work may hold values only; the sequel may touch what the loop owns.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "http/loop.hpp"

namespace sy::daemon {

class Worker {
 public:
  explicit Worker(http::Loop&);
  ~Worker();                     // waits for the work that runs; what is queued is dropped, no sequel is called any more
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // `work` must not throw.
  void run(std::function<void()> work, std::function<void()> then);
  std::size_t queued() const;

 private:
  struct Item {
    std::function<void()> work, then;
  };
  void serve();

  http::Loop& loop_;
  mutable std::mutex lock_;
  std::condition_variable wake_;
  std::deque<Item> items_;
  bool stop_{};
  std::shared_ptr<bool> alive_{std::make_shared<bool>(true)};  // touched on the loop only
  std::thread thread_;
};

}  // namespace sy::daemon
