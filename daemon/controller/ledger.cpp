#include "daemon/controller/ledger.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "daemon/runtime/clock.hpp"
#include "daemon/runtime/log.hpp"

namespace sy::daemon {

namespace {
model::Principal ourselves() {
  model::Principal who;
  who.role = model::Role::system;
  who.user = "switchyard";
  return who;
}

std::string all_of(const std::vector<std::string>& faults) {
  std::string text;
  for (const std::string& fault : faults) text += (text.empty() ? "" : "; ") + fault;
  return text;
}
}  // namespace

Ledger::Ledger(http::Loop& loop, Store& store, Options options)
    : loop_(loop), store_(store), options_(std::move(options)), retry_(loop), disk_(loop) {}
Ledger::~Ledger() { *alive_ = false; }

// Rises over every term that ever was, also after a restore from an old backup: seconds since 1970 do that by themselves.
core::StepResult Ledger::begin_epoch(model::State& state) const {
  const base::Time now = options_.now();
  const auto by_clock = static_cast<std::uint64_t>(std::max<std::int64_t>(0, base::to_seconds(now)));
  return core::step(state, core::Command{now, ourselves(), core::BeginEpoch{std::max(state.epoch + 1, by_clock), 0}});
}

base::Result<void> Ledger::open() {
  try {
    state_ = store_.load();
    if (const auto faults = model::check_invariants(state_); !faults.empty())
      return base::fail(base::Code::internal, "the stored state contradicts itself: " + all_of(faults), "state_dir", {},
                        "restore a backup, or report this with the folder's copy");
    const core::StepResult result = begin_epoch(state_);
    if (!result.reply) return base::fail(result.reply.error());
    store_.commit(make_batch(state_, result.events));
  } catch (const StoreFailure& failure) { return base::fail(base::Code::unavailable, failure.what(), "state_dir"); }
  committed_ = state_.sequence;
  return {};
}

Ledger::Outcome Ledger::execute_at(base::Time now, const model::Principal& who, core::Action action, std::vector<Blob> blobs) {
  ++counters_.commands;
  if (fault_) return {base::fail(*fault_), state_.sequence};
  if (refusal_ && !std::holds_alternative<core::ReportAttempt>(action)) return {base::fail(*refusal_), state_.sequence};
  core::StepResult result = core::step(state_, core::Command{now, who, std::move(action)});
  if (!result.reply) ++counters_.refused;
  if (!result.events.empty()) {
    counters_.events += result.events.size();
    pending_.add(state_, result.events);
    for (Blob& blob : blobs) pending_.blobs.push_back(std::move(blob));
  }
  if (!result.effects.empty()) pending_effects_.insert(pending_effects_.end(), result.effects.begin(), result.effects.end());
  if (!result.events.empty() || !result.effects.empty()) schedule_flush();
  Outcome outcome{std::move(result.reply), state_.sequence};
  if (!result.events.empty() && changed) changed(result.events);
  return outcome;
}

void Ledger::keep(StoredReply reply) {
  if (fault_) return;
  pending_.replies.push_back(std::move(reply));
  schedule_flush();
}

void Ledger::when_committed(base::Sequence sequence, Waiter then) {
  if (fault_) {
    then(&*fault_);
  } else if (sequence <= committed_) {
    then(nullptr);
  } else {
    ASSERT(sequence <= state_.sequence, "nothing can rest on what has not happened");
    const auto later =
        std::upper_bound(waiting_.begin(), waiting_.end(), sequence, [](base::Sequence s, const Waiting& w) { return s < w.sequence; });
    waiting_.insert(later, Waiting{sequence, std::move(then)});
  }
}

void Ledger::when_quiet(std::function<void()> then) {
  if (!committing_ && (fault_ || (pending_.empty() && pending_effects_.empty()))) then();
  else quiet_.push_back(std::move(then));
}

// At the end of this turn of the loop: commands that came in together share a commit.
void Ledger::schedule_flush() {
  if (flush_posted_ || committing_) return;
  flush_posted_ = true;
  loop_.post([this, alive = alive_] {
    if (!*alive) return;
    flush_posted_ = false;
    flush();
  });
}

void Ledger::flush() {
  if (committing_ || fault_) return;
  if (pending_.empty() && pending_effects_.empty()) {
    for (const auto& each : std::exchange(quiet_, {})) each();
    return;
  }
  auto batch = std::make_shared<Batch>(std::exchange(pending_, Batch{}));
  Committed news{state_.sequence, {}, std::exchange(pending_effects_, {}), {}};
  for (const auto& [id, job] : batch->jobs) news.jobs.push_back(id);
  committing_ = true;
  auto failure = std::make_shared<std::optional<std::string>>();
  auto seconds = std::make_shared<double>();
  auto replies = std::make_shared<std::vector<StoredReply>>();
  disk_.run(
      [this, batch, failure, seconds, replies] {
        if (batch->empty()) return;
        const Monotonic begin = monotonic_now();
        try {
          store_.commit(*batch);
        } catch (const std::exception& e) { *failure = e.what(); }
        *seconds = std::chrono::duration<double>(monotonic_now() - begin).count();
        *replies = std::move(batch->replies);
      },
      [this, failure, seconds, replies, news = std::move(news)]() mutable {
        news.replies = std::move(*replies);
        committed_batch(*failure, *seconds, news);
      });
}

void Ledger::committed_batch(const std::optional<std::string>& failure, double seconds, const Committed& news) {
  committing_ = false;
  if (failure) {
    fail(*failure);
    return;
  }
  ++counters_.commits;
  counters_.commit_seconds += seconds;
  committed_ = news.sequence;
  release(news.sequence);
  if (on_committed) on_committed(news);
  flush();
}

void Ledger::release(base::Sequence sequence) {
  while (!waiting_.empty() && waiting_.front().sequence <= sequence) {
    const Waiter then = std::move(waiting_.front().then);
    waiting_.pop_front();
    then(nullptr);
  }
}

void Ledger::fail(const std::string& why) {
  ++counters_.failed_commits;
  log_error("a commit failed, the state in memory is discarded: {}", why);
  fault_ = base::Error{base::Code::unavailable,
                       "the controller can not store anything at the moment: " + why,
                       {},
                       {},
                       {},
                       "try again later; an administrator has to look at the controller's disk"};
  ++generation_;
  pending_ = Batch{};
  pending_effects_.clear();
  state_ = model::State{};
  const auto waiting = std::exchange(waiting_, {});
  const base::Error error = *fault_;
  for (const Waiting& each : waiting) each.then(&error);
  for (const auto& each : std::exchange(quiet_, {})) each();
  retry_.start(options_.retry, [this] { reload(); });
}

// What is on disk is the truth; beginning a new epoch is also the proof that commits work again.
void Ledger::reload() {
  auto loaded = std::make_shared<model::State>();
  auto failure = std::make_shared<std::optional<std::string>>();
  disk_.run(
      [this, loaded, failure] {
        try {
          *loaded = store_.load();
          const core::StepResult result = begin_epoch(*loaded);
          if (!result.reply) *failure = base::to_text(result.reply.error());
          else store_.commit(make_batch(*loaded, result.events));
          if (const auto faults = model::check_invariants(*loaded); !faults.empty()) *failure = all_of(faults);
        } catch (const std::exception& e) { *failure = e.what(); }
      },
      [this, loaded, failure] {
        if (*failure) {
          log_error("the state still can not be stored: {}", **failure);
          fault_->message = "the controller can not store anything at the moment: " + **failure;
          retry_.start(options_.retry, [this] { reload(); });
          return;
        }
        state_ = std::move(*loaded);
        committed_ = state_.sequence;
        fault_.reset();
        log_info("the state is loaded again and can be stored: work is accepted");
        if (reloaded) reloaded();
      });
}

Ledger::Counters Ledger::counters() const {
  Counters counters = counters_;
  counters.waiting = waiting_.size();
  return counters;
}

}  // namespace sy::daemon
