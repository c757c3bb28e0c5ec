// Requests that wait for a job to change: asked again after each commit that touched it, answered when true or when time is up.
// Not an event stream, and nothing is decided here.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "daemon/api/call.hpp"

namespace sy::daemon {

class LongPolls {
 public:
  explicit LongPolls(Controller& controller) : controller_(controller) {}
  // `ready` is asked after each commit that changed the job; `answer` is called once: ready, time over, or memory reloaded.
  void wait(base::JobId, base::Duration at_most, const CallPtr&, std::function<bool()> ready, std::function<void()> answer);
  void committed(base::Sequence, const std::vector<base::JobId>& changed);
  // Has it changed (on disk) after this sequence? True also where that is not remembered any more.
  bool changed_since(base::JobId, base::Sequence) const;
  void answer_all();
  std::size_t size() const { return waiting_.size(); }

 private:
  struct Poll {
    explicit Poll(http::Loop& loop) : limit(loop) {}
    CallPtr call;
    std::function<bool()> ready;
    std::function<void()> answer;
    http::Timer limit;
  };
  using Waiting = std::multimap<base::JobId, std::shared_ptr<Poll>>;
  void finish(Waiting::iterator);

  Controller& controller_;
  Waiting waiting_;
  std::unordered_map<base::JobId, base::Sequence> changed_at_;
  base::Sequence forgotten_;   // changes up to here may be missing above
};

}  // namespace sy::daemon
