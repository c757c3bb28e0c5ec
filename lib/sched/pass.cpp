#include "sched/pass.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "sched/eligible/eligible.hpp"
#include "sched/placement/chooser.hpp"
#include "sched/priority/order.hpp"
#include "sched/request_class.hpp"

namespace sy::sched {

namespace {

bool anything_for_one_user(const View& v) {
  const auto kept = [](const NodeNow& n) { return n.exclusive_user; };
  const auto asks = [](const WaitingJob& j) { return j.spec->groups.front().sharing == Sharing::exclusive_user; };
  return std::any_of(v.nodes.begin(), v.nodes.end(), kept) || std::any_of(v.waiting.begin(), v.waiting.end(), asks);
}

class Pass {
 public:
  Pass(const View& view, Time now) : view_(view), now_(now), cluster_(view), classes_(anything_for_one_user(view)) {}

  Plan run() {
    plan_.snapshot = view_.snapshot;
    plan_.policy_version = view_.policy_version;
    make_queue();
    put_in_order(queue_, view_.waiting);
    for (const auto& entry : queue_) try_entry(entry);
    std::erase_if(plan_.forecasts, [](const Forecast& f) { return f.why == nullptr; });
    plan_.nodes_looked_at = cluster_.nodes_looked_at();
    plan_.search_steps = cluster_.searched();
    plan_.look_again = !cluster_.started().empty();
    return std::move(plan_);
  }

 private:
  // What one class of equal requests met in one partition. Nothing is given back within a pass, so a class that did not
  // fit once does not fit later in it.
  struct Line {
    std::optional<Chooser> chooser;
    std::shared_ptr<const Verdict> blocked;
  };

  void make_queue() {
    std::map<std::string_view, std::uint32_t> partitions;
    for (std::uint32_t p = 0; p < shape().partitions.size(); ++p) partitions.emplace(shape().partitions[p].name, p);
    queue_.reserve(view_.waiting.size());
    plan_.forecasts.resize(view_.waiting.size());
    for (std::uint32_t j = 0; j < view_.waiting.size(); ++j) {
      const WaitingJob& job = view_.waiting[j];
      plan_.forecasts[j].job = job.id;
      Verdict v = job_is_eligible(job, now_);
      std::uint32_t choice = 0;
      std::int64_t best = priority_of(1, job.spec->nice);
      for (const auto& name : job.spec->partitions) {
        auto it = partitions.find(name);
        if (it == partitions.end()) {
          if (v.fits() && job.spec->partitions.size() == 1) v = partition_is_gone(name);
          continue;
        }
        const auto priority = priority_of(shape().partitions[it->second].priority_tier, job.spec->nice);
        best = choice == 0 ? priority : std::max(best, priority);
        if (v.fits()) queue_.push_back({j, it->second, choice, priority});
        ++choice;
      }
      if (v.fits() && choice == 0) v = partition_is_gone(job.spec->partitions.empty() ? "" : job.spec->partitions.front());
      if (!v.fits()) forecast(j, shared(std::move(v)), 0, best);
    }
    ahead_.resize(shape().partitions.size());
    started_.resize(view_.waiting.size());
  }

  void try_entry(const QueueEntry& entry) {
    const WaitingJob& job = view_.waiting[entry.job];
    if (started_[entry.job]) return;
    Line& line = line_of(classes_.of(job), entry.partition);
    if (line.chooser && line.chooser->depends_on_wait()) line.blocked.reset();
    if (!line.blocked) look(line, job, entry.partition);
    if (!line.blocked) {
      started_[entry.job] = true;
      return start(line, entry);
    }
    forecast(entry.job, line.blocked, ahead_[entry.partition]++, entry.priority);
  }

  // Leaves line.blocked set, or the nodes of a start in chosen_.
  void look(Line& line, const WaitingJob& job, std::uint32_t p) {
    ++plan_.jobs_looked_at;
    if (!line.chooser) {
      Verdict limits = within_partition(shape().partitions[p], *job.spec, view_.settings);
      if (!limits.fits()) {
        line.blocked = std::make_shared<const Verdict>(std::move(limits));
        return;
      }
      line.chooser.emplace(shape(), p, view_.settings, job.spec, job.uid);
    }
    auto chosen = line.chooser->choose(cluster_, now_ - job.eligible, job.eligible);
    if (chosen) chosen_ = std::move(*chosen);
    else line.blocked = std::make_shared<const Verdict>(std::move(chosen.error()));
    plan_.search_ended |= line.blocked && line.blocked->reason == model::Reason::search_limit;
  }

  void start(const Line& line, const QueueEntry& entry) {
    const WaitingJob& job = view_.waiting[entry.job];
    cluster_.take(chosen_.nodes, line.chooser->needs(), job.uid);
    cluster_.started(job, chosen_.nodes);
    plan_.forecasts[entry.job].why = nullptr;
    plan_.starts.push_back({job.id, shape().partitions[entry.partition].name, std::move(chosen_.nodes), std::move(chosen_.placement)});
  }

  // Held jobs and those that wait for a time come in runs that are told the same.
  std::shared_ptr<const Verdict> shared(Verdict v) {
    if (!last_shared_ || *last_shared_ != v) last_shared_ = std::make_shared<const Verdict>(std::move(v));
    return last_shared_;
  }

  // A job in several partitions: "not now" says more than "never", and the first partition more than the next.
  void forecast(std::uint32_t job, const std::shared_ptr<const Verdict>& v, std::uint32_t ahead, std::int64_t priority) {
    Forecast& f = plan_.forecasts[job];
    if (f.why && (f.why->kind == v->kind || f.why->kind == Verdict::Kind::not_now)) return;
    f.priority = f.why ? std::max(f.priority, priority) : priority;
    f.why = v;
    f.ahead = ahead;
  }

  Line& line_of(std::uint32_t cls, std::uint32_t p) {
    const std::size_t width = shape().partitions.size();
    const std::size_t at = static_cast<std::size_t>(cls) * width + p;
    if (at >= lines_.size()) lines_.resize((static_cast<std::size_t>(cls) + 1) * width);
    return lines_[at];
  }

  const ClusterShape& shape() const { return *view_.shape; }

  const View& view_;
  Time now_;
  ClusterNow cluster_;
  RequestClasses classes_;
  Plan plan_;
  std::vector<Line> lines_;
  std::vector<QueueEntry> queue_;
  std::vector<std::uint32_t> ahead_;
  std::vector<bool> started_;          // by position in View.waiting
  Chosen chosen_;
  std::shared_ptr<const Verdict> last_shared_;
};

}  // namespace

Verdict Forecast::verdict() const {
  Verdict v = *why;
  v.ahead = ahead;
  return v;
}

const Forecast* Plan::forecast_of(JobId id) const {
  const auto at = std::lower_bound(forecasts.begin(), forecasts.end(), id, [](const Forecast& f, JobId i) { return f.job < i; });
  return at != forecasts.end() && at->job == id ? &*at : nullptr;
}

Plan plan_pass(const View& view, Time now) { return Pass(view, now).run(); }

}  // namespace sy::sched
