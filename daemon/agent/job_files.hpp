// Where a job finds out how it was placed: a JSON map and a list of its nodes, readable by anyone on the node, in a folder per
// attempt. Not the spool: that is root's alone, and nothing here is needed to run or to report.
#pragma once

#include <set>
#include <string>

#include "base/result.hpp"
#include "daemon/agent/spool.hpp"
#include "wire/agent_messages.hpp"

namespace sy::daemon {

namespace job_file {
inline constexpr const char* placement = "placement.json";
inline constexpr const char* nodes = "nodes";
}  // namespace job_file

// {"job","attempt","topology","levels","level","domains","nodes":[names in rank order],
//  "ranks":[{"first","count","node","path":[a name a level],"segment","group","replica"}]}
std::string placement_json(const wire::LaunchMessage&);
// One name a line, in rank order.
std::string nodes_text(const wire::LaunchMessage&);
// Is there anything to tell beyond what SLURM_* variables say?
bool has_placement(const wire::LaunchMessage&);

class JobFiles {
 public:
  // Makes the folder (0755), and refuses one that others may write to. Nothing is made where path is empty.
  static base::Result<JobFiles> open(const std::string& path);

  // Not synced: after a power cut the job is gone as well. Error: the disk is full.
  base::Result<void> create(AttemptKey, const wire::LaunchMessage&) const;
  void drop(AttemptKey) const;
  void drop_all_but(const std::set<AttemptKey>&) const;
  std::string path(AttemptKey) const;

 private:
  JobFiles(std::string path, supervisor::Folder root) : path_(std::move(path)), root_(std::move(root)) {}
  std::string path_;
  supervisor::Folder root_;
};

}  // namespace sy::daemon
