#include "daemon/api/long_polls.hpp"

namespace sy::daemon {

void LongPolls::wait(base::JobId job, base::Duration at_most, const CallPtr& call, std::function<bool()> ready,
                     std::function<void()> answer) {
  constexpr std::size_t most = 50'000;
  if (waiting_.size() >= most || at_most == base::Duration{}) {
    answer();
    return;
  }
  auto poll = std::make_shared<Poll>(controller_.loop());
  poll->call = call;
  poll->ready = std::move(ready);
  poll->answer = std::move(answer);
  const auto at = waiting_.emplace(job, poll);
  poll->limit.start(at_most, [this, at] { finish(at); });
}

void LongPolls::finish(Waiting::iterator at) {
  const std::shared_ptr<Poll> poll = at->second;
  waiting_.erase(at);
  poll->limit.cancel();
  if (poll->call->open()) poll->answer();
}

bool LongPolls::changed_since(base::JobId job, base::Sequence since) const {
  const auto at = changed_at_.find(job);
  return at != changed_at_.end() ? at->second > since : forgotten_ > since;
}

void LongPolls::committed(base::Sequence sequence, const std::vector<base::JobId>& changed) {
  constexpr std::size_t most_remembered = 200'000;
  if (changed_at_.size() > most_remembered) {
    changed_at_.clear();
    forgotten_ = sequence;
  }
  for (const base::JobId job : changed) changed_at_[job] = sequence;
  if (waiting_.empty()) return;
  for (const base::JobId job : changed) {
    const auto [first, last] = waiting_.equal_range(job);
    std::vector<Waiting::iterator> done;
    for (auto at = first; at != last; ++at)
      if (!at->second->call->open() || at->second->ready()) done.push_back(at);
    for (const auto at : done) finish(at);
  }
}

void LongPolls::answer_all() {
  changed_at_.clear();
  forgotten_ = controller_.state().sequence;
  while (!waiting_.empty()) finish(waiting_.begin());
}

}  // namespace sy::daemon
