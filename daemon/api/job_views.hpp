// Which jobs are asked for and how they are shown: filters, pages, fields.
// Not the text of a job (wire/job_fields.hpp).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/api/call.hpp"
#include "wire/job_fields.hpp"

namespace sy::daemon {

struct JobFilter {
  std::vector<base::JobId> ids;                                    // ascending; empty: all
  std::vector<std::string> users, partitions, names;               // any of each; empty: all
  std::vector<std::pair<std::string model::Annotations::*, std::vector<std::string>>> annotations;  // same, of those asked for
  std::vector<std::pair<model::JobState, model::Outcome>> states;
  std::optional<std::set<base::NodeIndex>> nodes;
  bool requeued{};                                                 // attempts that ended to wait again, beside those states
  std::set<std::string> hidden;                                    // partitions whose jobs are left out, but for those of `asking`
  base::Uid asking{};
  bool matches(const model::Job&) const;
  bool state_matches(const model::Job&) const;
  bool annotations_match(const model::Job&) const;
  bool only_live() const;                                          // states name waiting and live ones only
};
std::vector<std::string> filter_parameters(std::vector<std::string> others);  // the names that read_job_filter knows, and others
base::Result<JobFilter> read_job_filter(const http::Target&, const model::State&, const model::Principal& who);
base::Result<std::vector<base::JobId>> read_job_ids(const http::Target&);
base::Result<base::JobId> job_of(const Call&);                     // {id}

void append_job_now(std::string& out, const Call&, const model::Job&, std::span<const wire::JobField>);

}  // namespace sy::daemon
