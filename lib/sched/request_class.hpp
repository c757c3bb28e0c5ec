// Groups waiting jobs whose requests can not be told apart, so that a pass does each piece of work once (design T3).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sched/view.hpp"

namespace sy::sched {

class RequestClasses {
 public:
  // by_user: jobs of different users are never one class; needed where nodes are kept for one user (--exclusive=user).
  explicit RequestClasses(bool by_user = false) : by_user_(by_user) {}

  // The number of the job's class, from 0; the same for jobs that ask for the same. Reads WaitingJob.request where it is given
  // (for all jobs or for none), else compares requests.
  std::uint32_t of(const WaitingJob&);
  std::size_t size() const { return examples_.size(); }

 private:
  struct Example {
    std::shared_ptr<const JobSpec> spec;
    Uid uid;
  };
  std::uint32_t by_number(const WaitingJob&);
  std::uint32_t by_content(const WaitingJob&);
  std::uint32_t add(const WaitingJob&);

  bool by_user_;
  std::unordered_multimap<std::size_t, std::uint32_t> by_hash_;
  std::uint32_t last_{~0U};
  std::vector<Example> examples_;
  std::vector<std::uint32_t> of_number_;  // by WaitingJob.request
};

}  // namespace sy::sched
