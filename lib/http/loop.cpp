#include "http/loop.hpp"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>

#include "http/detail/asio.hpp"

namespace sy::http {

Loop::Loop() : impl_(std::make_unique<Impl>()) {}
Loop::~Loop() = default;

void Loop::run() {
  const auto stay = asio::make_work_guard(impl_->context);
  impl_->context.restart();
  impl_->context.run();
}

void Loop::stop() { impl_->context.stop(); }

void Loop::post(std::function<void()> work) { asio::post(impl_->context, std::move(work)); }

namespace {
struct SignalWait : std::enable_shared_from_this<SignalWait> {
  SignalWait(asio::io_context& context, std::function<void(int)> what) : set(context), handler(std::move(what)) {}
  void wait() {
    set.async_wait([self = shared_from_this()](ErrorCode error, int number) {
      if (error) return;
      self->handler(number);
      self->wait();
    });
  }
  asio::signal_set set;
  std::function<void(int)> handler;
};
}  // namespace

void Loop::on_signals(std::initializer_list<int> signals, std::function<void(int)> handler) {
  auto waiter = std::make_shared<SignalWait>(impl_->context, std::move(handler));
  for (const int number : signals) waiter->set.add(number);
  waiter->wait();
}

struct Timer::Impl {
  explicit Impl(asio::io_context& context) : timer(context) {}
  SteadyTimer timer;
  std::uint64_t generation{};   // a cancelled wait may already be queued: its number no longer matches
  bool running{};
};

Timer::Timer(Loop& loop) : impl_(std::make_shared<Impl>(loop.impl().context)) {}
Timer::~Timer() { cancel(); }

void Timer::start(base::Duration after, std::function<void()> work) {
  const std::uint64_t generation = ++impl_->generation;
  impl_->running = true;
  impl_->timer.expires_after(std::min(after, base::Duration{base::hours{24 * 365}}));  // nanoseconds must not overflow
  impl_->timer.async_wait([impl = impl_, generation, work = std::move(work)](ErrorCode error) {
    if (error || generation != impl->generation) return;
    impl->running = false;
    work();
  });
}

void Timer::cancel() {
  ++impl_->generation;
  impl_->running = false;
  impl_->timer.cancel();
}

bool Timer::running() const { return impl_->running; }

}  // namespace sy::http
