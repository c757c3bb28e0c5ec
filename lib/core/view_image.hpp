// The compact image that scheduling passes look at (sched::View), kept up to date by events: a pass costs what changed and one
// copy of the image, not a walk over State. Says the same as sched::make_view, which makes it from scratch. Not a part of State:
// whoever runs passes owns one.
#pragma once

#include <vector>

#include "core/event.hpp"
#include "sched/request_class.hpp"
#include "sched/view.hpp"

namespace sy::core {

class ViewImage {
 public:
  // Forgets everything; the next view is made from scratch. Also the beginning.
  void reset() { fresh_ = false; }
  // `after`: State with these events applied, and perhaps later ones of which it is told next.
  void follow(const State& after, const std::vector<Event>& events);
  // Of the State that the last events led to.
  sched::View view(const State&);

 private:
  void load(const State&);
  void take_job(const State&, JobId);
  void mark(NodeIndex);
  void drop_those_that_left();
  void number_requests();

  bool fresh_{};
  std::vector<sched::WaitingJob> waiting_;  // by id; those without a spec have left
  std::size_t left_{};
  sched::RequestClasses requests_;          // those of jobs that left are dropped now and then
  std::vector<sched::NodeNow> nodes_;
  std::vector<bool> is_marked_;             // by NodeIndex: to be looked at again
  std::vector<NodeIndex> marked_;
};

}  // namespace sy::core
