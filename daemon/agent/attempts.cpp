#include "daemon/agent/attempts.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "daemon/runtime/clock.hpp"
#include "daemon/runtime/crypto.hpp"
#include "daemon/runtime/log.hpp"

namespace sy::daemon {

using base::Code;
using base::fail;
using Blame = core::ReportAttempt::Blame;
namespace file = supervisor::file;

namespace {

constexpr std::size_t largest_script = 5U << 20U;
constexpr std::int64_t skew_us = 60'000'000;  // requests are accepted so far from our clock
constexpr int most_cleanings = 5;
constexpr const char* file_of_nonces = "nonces";

std::int64_t micros(base::Duration d) { return d.count(); }

tl::unexpected<Refusal> not_judged(base::Error e) { return tl::unexpected<Refusal>(Refusal{Blame::nobody, std::move(e)}); }

std::optional<model::ExitRecord> to_model(const std::optional<supervisor::ExitInfo>& e) {
  if (!e) return std::nullopt;
  model::ExitRecord out;
  out.code = e->code;
  out.signal = e->signal;
  out.out_of_memory = e->out_of_memory;
  out.timed_out = e->timed_out;
  out.core_dumped = e->core_dumped;
  out.cpu_time = base::Duration{e->cpu_us};
  out.peak_memory = base::Mebibytes{e->peak_memory_mib};
  out.reason = e->reason;
  return out;
}

// Enough of a record for an attempt that never ran here: it is never handed to a supervisor.
supervisor::LaunchRecord tombstone_record(const wire::Capability& c, const std::string& boot_id) {
  supervisor::LaunchRecord r;
  r.job = c.job.value;
  r.attempt = c.attempt.value;
  r.epoch = c.epoch;
  r.node = c.node;
  r.expires_us = base::micros(c.expires);
  r.boot_id = boot_id;
  r.uid = r.gid = ~0U;
  return r;
}

}  // namespace

Attempts::Attempts(http::Loop& loop, Spool& spool, Site site, CpuBinding binding, const std::string& supervisor, std::function<void()> news)
    : spool_(spool),
      site_(std::move(site)),
      binding_(std::move(binding)),
      news_(std::move(news)),
      supervisors_(loop, spool, supervisor, [this](AttemptKey key, bool ended) { refresh(key, ended); }) {}

void Attempts::add(AttemptKey key, const supervisor::LaunchRecord& r) {
  Known k;
  k.expires_us = r.expires_us;
  k.lead = r.lead;
  k.of_this_boot = r.boot_id == site_.boot_id;
  k.cpus = r.bind_cpus;
  known_.insert_or_assign(key, std::move(k));
}

void Attempts::recover() {
  std::set<AttemptKey> alive;
  for (const AttemptKey key : spool_.attempts()) {
    const auto r = spool_.launch(key);
    if (!r) {  // synced before it was renamed: this is a damaged disk
      log_error("the launch record of attempt {} is damaged: nothing of it is started", to_text(key));
      continue;
    }
    add(key, *r);
    refresh(key, false);
    const Known& k = known_.at(key);
    if (k.files.over()) continue;
    binding_.hold(k.cpus);
    alive.insert(key);
    if (!supervisors_.lives(key)) supervisor_is_gone(key);
    else log_info("attempt {} runs on under its supervisor", to_text(key));
  }
  if (site_.job_files) site_.job_files->drop_all_but(alive);
}

// Nobody holds the lock. Never started: it may start now, since its launch was accepted. Otherwise it died, or the machine
// was restarted under it; then what it left is ended and said.
void Attempts::supervisor_is_gone(AttemptKey key) {
  Known& k = known_.at(key);
  k.files = spool_.files(key);
  if (k.files.over() || supervisors_.is_child(key)) return;
  if (k.cleanings >= most_cleanings) return;
  const bool fresh = !k.files.started && k.of_this_boot;
  if (!fresh) {
    ++k.cleanings;
    log_warning("attempt {} has lost its supervisor: ending what is left of it", to_text(key));
  }
  if (const auto started = supervisors_.start(key, !fresh); !started)
    log_error("attempt {}: {}", to_text(key), base::to_text(started.error()));
}

void Attempts::refresh(AttemptKey key, bool ended) {
  const auto found = known_.find(key);
  if (found == known_.end()) return;
  Known& k = found->second;
  const bool was_over = k.files.over();
  k.files = spool_.files(key);
  if (k.files.over() && !was_over) {
    binding_.release(k.cpus);
    if (site_.job_files) site_.job_files->drop(key);
  }
  if (!reports_of(key, k).empty()) {
    unreported_.insert(key);
    news_();
  }
  if (ended && !k.files.over()) supervisor_is_gone(key);
}

void Attempts::tend(base::Time now) {
  std::vector<AttemptKey> gone, orphans;
  for (const auto& [key, k] : known_) {
    const bool told = k.acknowledged.contains(k.files.refused ? What::refused : What::cleared);
    if (k.files.over() && told && base::micros(now) > k.expires_us + skew_us) gone.push_back(key);
    if (!k.files.over()) orphans.push_back(key);
  }
  for (const AttemptKey key : gone) {
    spool_.drop(key);
    unreported_.erase(key);
    known_.erase(key);
  }
  for (const AttemptKey key : orphans) {
    refresh(key, false);
    if (!known_.at(key).files.over() && !supervisors_.is_child(key) && !supervisors_.lives(key)) supervisor_is_gone(key);
  }
}

supervisor::LaunchRecord Attempts::record(const wire::LaunchMessage& m, const Account& account) const {
  supervisor::LaunchRecord r = tombstone_record(m, site_.boot_id);
  r.lead = m.role == wire::LaunchMessage::Role::lead;
  r.rank = m.rank;
  r.restarts = m.restarts;
  r.user = m.user;
  r.uid = m.uid.value;
  r.gid = m.gid.value;
  for (const auto g : m.groups) r.groups.push_back(g.value);
  r.job_name = m.job_name;
  r.work_dir = m.work_dir;
  r.std_in = m.std_in;
  r.std_out = m.std_out;
  r.std_err = m.std_err;
  r.append_output = m.append_output;
  r.environment = job_environment(m, account, site_.has_gpus);
  // How a supervisor's successor recognises what is left of this attempt where there are no control groups.
  r.environment.push_back(fmt::format("SWITCHYARD_ATTEMPT={}.{}@{}", m.job.value, m.attempt.value, site_.instance));
  r.script_args = m.script_args;
  if (m.time_limit && *m.time_limit != base::Duration::max()) r.time_limit_us = micros(*m.time_limit);
  if (m.warning_signal && m.warning_signal->number > 0)
    r.warning = supervisor::Warning{m.warning_signal->number, micros(m.warning_signal->before_end), m.warning_signal->batch_shell};
  r.kill_grace_us = micros(m.kill_grace);
  r.memory_mib = m.memory.value;
  r.cpus_milli = m.cpus.value;
  r.cgroup = site_.cgroup;
  r.prolog = site_.prolog.empty() ? m.prolog : site_.prolog;
  r.epilog = site_.epilog.empty() ? m.epilog : site_.epilog;
  r.hook_environment = hook_environment(m);
  return r;
}

// Kept, so that the same launch, sent twice, can not be refused and then done.
tl::expected<void, Refusal> Attempts::refuse(AttemptKey key, const wire::LaunchMessage& m, Blame blame, base::Error error, base::Time now) {
  const auto r = tombstone_record(m, site_.boot_id);
  const supervisor::RefusedRecord refused{blame == Blame::job ? "job" : "node", error.message, base::micros(now)};
  add(key, r);
  if (const auto kept = spool_.create_tombstone(key, r, refused, base::micros(now)); kept) {
    refresh(key, false);
  } else {
    log_error("attempt {}: {}", to_text(key), base::to_text(kept.error()));
    known_.at(key).files.refused = refused;  // a full disk: until the agent ends, the capability much earlier
    unreported_.insert(key);
    news_();
  }
  return tl::unexpected<Refusal>(Refusal{blame, std::move(error)});
}

tl::expected<void, Refusal> Attempts::launch(const wire::LaunchMessage& m, const std::optional<Account>& account, base::Time now) {
  const AttemptKey key{m.job, m.attempt};
  if (const auto same = known_.find(key); same != known_.end()) {
    const auto& refused = same->second.files.refused;
    if (!refused) return {};
    return tl::unexpected<Refusal>(
        Refusal{refused->blame == "job" ? Blame::job : Blame::node, {Code::conflict, refused->reason, {}, {}, {}, {}}});
  }
  for (auto other = known_.lower_bound({m.job, base::AttemptNumber{0}}); other != known_.end() && other->first.job == m.job; ++other) {
    if (other->first.attempt > m.attempt)
      return not_judged({Code::conflict, "a later attempt of this job is known here", "attempt", {}, std::to_string(m.attempt.value), {}});
    if (other->second.files.over()) continue;
    kill(other->first);
    return not_judged(
        {Code::unavailable, "an earlier attempt of this job is still being ended here", "attempt", {}, {}, "try again in a moment"});
  }
  // The controller refuses them at submission; this is for one that does not, or whose key was stolen.
  if (m.uid == base::Uid{0} && !site_.allow_root)
    return refuse(key, m, Blame::job,
                  {Code::forbidden,
                   fmt::format("node {} runs no jobs of root", site_.node),
                   "user",
                   {},
                   m.user,
                   "submit as the user the job is for, or set allow_root in the agent's settings"},
                  now);
  if (!account)
    return refuse(key, m, Blame::job,
                  {Code::not_found,
                   fmt::format("user {} (uid {}) is unknown on node {}", m.user, m.uid.value, site_.node),
                   "user",
                   {},
                   m.user,
                   "the account has to exist on the compute nodes"},
                  now);
  auto r = record(m, *account);
  std::string script;
  if (r.lead) {
    const auto bytes = from_base64(m.script_base64);
    if (!bytes || bytes->size() > largest_script)
      return refuse(key, m, Blame::job,
                    {Code::invalid_argument, "the script did not arrive as base64 of at most 5 MiB", "script_base64", {}, {}, {}}, now);
    script = *bytes;
  }
  if (site_.job_files && has_placement(m)) {
    if (const auto told = site_.job_files->create(key, m); told) {
      r.environment.push_back("SWITCHYARD_PLACEMENT=" + site_.job_files->path(key) + "/" + job_file::placement);
      r.environment.push_back("SWITCHYARD_NODES_FILE=" + site_.job_files->path(key) + "/" + job_file::nodes);
    } else {
      log_warning("attempt {} runs without its placement map: {}", to_text(key), base::to_text(told.error()));
    }
  }
  r.bind_cpus = binding_.take(m.cpus);
  if (const auto made = spool_.create(key, r, script); !made) {
    binding_.release(r.bind_cpus);
    if (site_.job_files) site_.job_files->drop(key);
    return refuse(key, m, Blame::node, made.error(), now);
  }
  add(key, r);
  if (const auto started = supervisors_.start(key, false); !started) {
    const supervisor::RefusedRecord refused{"node", base::to_text(started.error()), base::micros(now)};
    spool_.folder(key).write(file::refused, supervisor::to_text(refused), true);
    refresh(key, false);
    return tl::unexpected<Refusal>(Refusal{Blame::node, started.error()});
  }
  log_info("attempt {} started as {}", to_text(key), r.lead ? "lead" : "member");
  return {};
}

void Attempts::ask_to_end(AttemptKey key, std::int64_t grace_us, const std::string& why) {
  const auto f = spool_.folder(key);
  const int error = f.exists(file::end) ? 0 : f.write(file::end, supervisor::to_text(supervisor::EndRequest{grace_us, why}), true);
  // On a full disk the message alone has to do.
  supervisors_.tell(key, error == 0 ? "look" : "end " + std::to_string(grace_us));
}

base::Result<void> Attempts::end(const wire::EndMessage& m, base::Time now) {
  const AttemptKey key{m.job, m.attempt};
  const auto found = known_.find(key);
  if (found == known_.end()) {
    const auto r = tombstone_record(m, site_.boot_id);
    if (const auto kept = spool_.create_tombstone(key, r, std::nullopt, base::micros(now)); !kept) return fail(kept.error());
    add(key, r);
    refresh(key, false);
    return {};
  }
  if (!found->second.files.over()) ask_to_end(key, micros(m.grace), m.why);
  return {};
}

void Attempts::kill(AttemptKey key) {
  const auto found = known_.find(key);
  if (found == known_.end() || found->second.files.over()) return;
  log_warning("attempt {} was declared ended elsewhere: ending it here", to_text(key));
  // Even when it was asked before with more patience.
  spool_.folder(key).write(file::end, supervisor::to_text(supervisor::EndRequest{0, "declared ended by the controller"}), true);
  supervisors_.tell(key, "end 0");
}

// A replay must not signal twice nor bring an old limit back; an agent that was restarted reads them from the folder. Launches
// need none of this: the attempt itself is the proof.
bool Attempts::used_before(AttemptKey key, const std::string& nonce) {
  auto& used = known_.at(key).nonces;
  if (used.empty())
    if (const auto text = spool_.folder(key).read(file_of_nonces))
      for (std::size_t at = 0, end = 0; (end = text->find('\n', at)) != std::string::npos; at = end + 1)
        used.insert(text->substr(at, end - at));
  return used.contains(nonce);
}

void Attempts::remember_used(AttemptKey key, const std::string& nonce) {
  known_.at(key).nonces.insert(nonce);
  const auto folder = spool_.folder(key);
  const supervisor::Descriptor log{::openat(folder.fd(), file_of_nonces, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600)};
  ::dprintf(log.get(), "%s\n", nonce.c_str());
}

base::Result<void> Attempts::signal(const wire::SignalMessage& m) {
  const AttemptKey key{m.job, m.attempt};
  const auto found = known_.find(key);
  if (found == known_.end()) return fail(Code::not_found, "this attempt is not known here", "attempt", to_text(key));
  if (found->second.files.over()) return fail(Code::conflict, "this attempt has ended", "attempt", to_text(key));
  if (used_before(key, m.nonce)) return fail(Code::unauthenticated, "this capability was used before", "nonce", m.nonce);
  if (!supervisors_.tell(key, fmt::format("signal {} {} {}", m.signal, m.batch_only ? 1 : 0, m.whole_job ? 1 : 0)))
    return fail(Code::unavailable, "the attempt is only starting, or just ending", "attempt", to_text(key), "try again in a moment");
  remember_used(key, m.nonce);
  return {};
}

base::Result<void> Attempts::set_time_limit(const wire::TimeLimitMessage& m) {
  const AttemptKey key{m.job, m.attempt};
  if (!known_.contains(key)) return fail(Code::not_found, "this attempt is not known here", "attempt", to_text(key));
  if (used_before(key, m.nonce)) return fail(Code::unauthenticated, "this capability was used before", "nonce", m.nonce);
  const std::int64_t limit = m.time_limit ? micros(*m.time_limit) : std::numeric_limits<std::int64_t>::max();
  if (const int error = spool_.folder(key).write(file::limit, std::to_string(limit), true); error != 0)
    return fail(Code::unavailable, std::string{"the limit could not be kept: "} + std::strerror(error), "spool");
  remember_used(key, m.nonce);
  supervisors_.tell(key, "look");
  return {};
}

void Attempts::forget(AttemptKey key) {
  const auto found = known_.find(key);
  if (found == known_.end() || !found->second.files.over()) return;
  acknowledged({key.job, key.attempt, found->second.files.refused ? What::refused : What::cleared});
}

std::vector<wire::AttemptSeen> Attempts::seen() const {
  std::vector<wire::AttemptSeen> out;
  for (const auto& [key, k] : known_) {
    if (k.files.over() && k.acknowledged.contains(k.files.refused ? What::refused : What::cleared)) continue;
    auto phase = model::NodePhase::launching;
    if (k.files.over()) phase = model::NodePhase::clear;
    else if (k.files.exit || k.files.end_asked) phase = model::NodePhase::ending;
    else if (k.files.running) phase = model::NodePhase::running;
    else if (k.files.accepted) phase = model::NodePhase::accepted;
    out.push_back({key.job, key.attempt, phase});
  }
  return out;
}

std::vector<wire::AttemptReport> Attempts::reports_of(AttemptKey key, const Known& k) const {
  std::vector<wire::AttemptReport> out;
  const auto add = [&](What what, std::int64_t at_us) -> wire::AttemptReport* {
    if (k.acknowledged.contains(what)) return nullptr;
    wire::AttemptReport r;
    r.job = key.job;
    r.attempt = key.attempt;
    r.what = what;
    r.at = base::time_from_micros(at_us);
    out.push_back(std::move(r));
    return &out.back();
  };
  const AttemptFiles& f = k.files;
  if (f.refused) {
    if (auto* r = add(What::refused, f.refused->at_us)) {
      r->blame = f.refused->blame == "job" ? Blame::job : Blame::node;
      r->reason = f.refused->reason;
    }
    return out;
  }
  if (f.accepted) add(What::accepted, f.running ? f.running->at_us : base::micros(wall_now()));
  if (f.running && k.lead) add(What::started, f.running->at_us);
  if (f.exit && f.exit->ran && k.lead)
    if (auto* r = add(What::script_ended, f.exit->at_us)) {
      r->exit = to_model(f.exit);
      if (f.exit->lease_over) {  // not the job's doing: as if the node had failed
        r->blame = Blame::node;
        r->reason = "node " + site_.node + " had no controller for too long: its lease ran out";
      }
    }
  if (f.cleared)
    if (auto* r = add(What::cleared, f.cleared->at_us)) {
      if (k.lead) r->exit = to_model(f.exit);  // again, so that an end can not arrive without it
      r->reason = f.cleared->node_fault;
      if (!r->reason.empty()) r->blame = Blame::node;
    }
  return out;
}

std::vector<wire::AttemptReport> Attempts::due_reports(std::size_t limit) const {
  std::vector<wire::AttemptReport> out;
  for (const AttemptKey key : unreported_) {
    for (auto& r : reports_of(key, known_.at(key))) {
      if (out.size() == limit) return out;
      out.push_back(std::move(r));
    }
  }
  return out;
}

void Attempts::acknowledged(const wire::ReportName& name) {
  const auto found = known_.find({name.job, name.attempt});
  if (found == known_.end()) return;
  found->second.acknowledged.insert(name.what);
  // The end tells everything that came before it.
  if (name.what == What::cleared) found->second.acknowledged.insert({What::accepted, What::started, What::script_ended});
  if (reports_of(found->first, found->second).empty()) unreported_.erase(found->first);
}

}  // namespace sy::daemon
