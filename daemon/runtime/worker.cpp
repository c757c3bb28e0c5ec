#include "daemon/runtime/worker.hpp"

namespace sy::daemon {

Worker::Worker(http::Loop& loop) : loop_(loop), thread_([this] { serve(); }) {}

Worker::~Worker() {
  {
    const std::lock_guard guard(lock_);
    stop_ = true;
    items_.clear();
  }
  wake_.notify_one();
  thread_.join();
  *alive_ = false;
}

void Worker::run(std::function<void()> work, std::function<void()> then) {
  {
    const std::lock_guard guard(lock_);
    items_.push_back({std::move(work), std::move(then)});
  }
  wake_.notify_one();
}

std::size_t Worker::queued() const {
  const std::lock_guard guard(lock_);
  return items_.size();
}

void Worker::serve() {
  while (true) {
    Item item;
    {
      std::unique_lock guard(lock_);
      wake_.wait(guard, [this] { return stop_ || !items_.empty(); });
      if (stop_) return;
      item = std::move(items_.front());
      items_.pop_front();
    }
    item.work();
    item.work = nullptr;
    loop_.post([then = std::move(item.then), alive = alive_] {
      if (*alive && then) then();
    });
  }
}

}  // namespace sy::daemon
