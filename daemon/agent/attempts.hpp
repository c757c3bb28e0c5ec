// Every attempt this node has seen and not yet forgotten: launched, told to end, told apart from those that must not be.
// Not the network: requests come in as checked messages, reports go out as values.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "daemon/agent/cpu_binding.hpp"
#include "daemon/agent/job_environment.hpp"
#include "daemon/agent/job_files.hpp"
#include "daemon/agent/spool.hpp"
#include "daemon/agent/supervisors.hpp"
#include "wire/agent_messages.hpp"

namespace sy::daemon {

// A launch that was judged and not done. `blame` decides whether the job or the node pays for it; nobody: not judged, the
// controller may send it again.
struct Refusal {
  core::ReportAttempt::Blame blame{core::ReportAttempt::Blame::nobody};
  base::Error error;
};

class Attempts {
 public:
  struct Site {
    std::string node;
    std::string instance;             // this agent among all that run on the machine, with whatever node names
    std::string boot_id;
    std::string prolog, epilog;       // the agent's own; empty: the message's
    bool allow_root{};
    supervisor::CgroupPlace cgroup;
    bool has_gpus{};
    std::shared_ptr<const JobFiles> job_files;  // null: jobs get none
  };
  // `news` is called when there is something to report.
  Attempts(http::Loop&, Spool&, Site, CpuBinding, const std::string& supervisor, std::function<void()> news);

  // After a start of the agent: finds what lives, what ended meanwhile, and what died. Before any request.
  void recover();
  // Looks after supervisors that are not our children, and drops what may go. Every second or so.
  void tend(base::Time now);

  // Idempotent: the same attempt again is answered like the first time.
  tl::expected<void, Refusal> launch(const wire::LaunchMessage&, const std::optional<Account>&, base::Time now);
  // An unknown attempt becomes one that is over and can never be launched.
  base::Result<void> end(const wire::EndMessage&, base::Time now);
  base::Result<void> signal(const wire::SignalMessage&);
  base::Result<void> set_time_limit(const wire::TimeLimitMessage&);
  void forget(AttemptKey);
  // What the controller declared ended elsewhere must not run here.
  void kill(AttemptKey);
  bool knows(AttemptKey key) const { return known_.contains(key); }

  std::vector<wire::AttemptSeen> seen() const;                 // for the registration
  std::vector<wire::AttemptReport> due_reports(std::size_t limit) const;
  void acknowledged(const wire::ReportName&);

 private:
  using What = core::ReportAttempt::What;
  struct Known {
    std::int64_t expires_us{};
    bool lead{};
    bool of_this_boot{true};
    std::vector<int> cpus;
    AttemptFiles files;
    std::set<What> acknowledged;
    std::set<std::string> nonces;     // of signals and limits that were carried out
    int cleanings{};
  };
  supervisor::LaunchRecord record(const wire::LaunchMessage&, const Account&) const;
  tl::expected<void, Refusal> refuse(AttemptKey, const wire::LaunchMessage&, core::ReportAttempt::Blame, base::Error, base::Time now);
  bool used_before(AttemptKey, const std::string& nonce);
  void remember_used(AttemptKey, const std::string& nonce);
  void add(AttemptKey, const supervisor::LaunchRecord&);
  void refresh(AttemptKey, bool ended);
  void supervisor_is_gone(AttemptKey);
  std::vector<wire::AttemptReport> reports_of(AttemptKey, const Known&) const;
  void ask_to_end(AttemptKey, std::int64_t grace_us, const std::string& why);

  Spool& spool_;
  Site site_;
  CpuBinding binding_;
  std::function<void()> news_;
  std::map<AttemptKey, Known> known_;
  std::set<AttemptKey> unreported_;
  Supervisors supervisors_;
};

}  // namespace sy::daemon
