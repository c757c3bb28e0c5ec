// GET /v1/jobs, GET /v1/jobs/ID and its script: what anybody may see of the queue, and what only the owner may.
#include <fmt/format.h>

#include <algorithm>

#include "daemon/api/api.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/job_views.hpp"
#include "http/problem.hpp"

namespace sy::daemon::handlers {

namespace {
using base::Code;

// A long list is written in slices, so that others get their turn on the loop; jobs looked at per page are bounded.
constexpr std::size_t slice = 250;
constexpr std::size_t most_looked_at = 50'000;

struct Listing {
  CallPtr call;
  JobFilter filter;
  std::vector<wire::JobField> fields;
  std::uint64_t limit{};
  base::JobId last{};                  // looked at last
  std::size_t looked_at{}, written{};
  std::string body{"{\"jobs\":["};

  void finish(std::string_view next) {
    body += fmt::format("],\"next\":{},\"sequence\":{}}}", next, call->state().sequence.value);
    call->reply_json(std::move(body));
  }
  void take(const model::Job& job) {
    last = job.id;
    ++looked_at;
    if (!filter.matches(job)) return;
    if (written++ > 0) body += ',';
    append_job_now(body, *call, job, fields);
  }
  // The smallest id above `last` that may match; false: there is none.
  template <class Ids>
  static std::optional<base::JobId> above(const Ids& ids, base::JobId last) {
    const auto at = ids.upper_bound(last);
    return at == ids.end() ? std::nullopt : std::optional<base::JobId>(*at);
  }
  const model::Job* next_job() const {
    const model::State& state = call->state();
    if (!filter.ids.empty()) {
      for (auto at = std::upper_bound(filter.ids.begin(), filter.ids.end(), last); at != filter.ids.end(); ++at)
        if (const model::Job* job = state.find_job(*at)) return job;
      return nullptr;
    }
    if (filter.only_live()) {          // the usual queue view does not walk over what has ended
      const auto waiting = above(state.waiting, last), live = above(state.live, last);
      if (!waiting && !live) return nullptr;
      return state.find_job(!live || (waiting && *waiting < *live) ? *waiting : *live);
    }
    const auto at = state.jobs.upper_bound(last);
    return at == state.jobs.end() ? nullptr : &at->second;
  }
};

void go_on(const std::shared_ptr<Listing>& listing) {
  if (!listing->call->open()) return;
  if (listing->call->controller.ledger().fault()) return listing->call->fail(*listing->call->controller.ledger().fault());
  for (std::size_t i = 0; i < slice; ++i) {
    const model::Job* job = listing->next_job();
    if (job == nullptr) return listing->finish("null");
    if (listing->written >= listing->limit || listing->looked_at >= most_looked_at)
      return listing->finish(std::to_string(listing->last.value));
    listing->take(*job);
  }
  listing->call->controller.loop().post([listing] { go_on(listing); });
}
}  // namespace

void list_jobs(const CallPtr& call) {
  static const auto known = filter_parameters({"hidden", "fields", "limit", "after"});
  if (auto fit = only_parameters(call->target, known); !fit) return call->fail(fit.error());
  auto listing = std::make_shared<Listing>();
  listing->call = call;
  auto filter = read_job_filter(call->target, call->state(), call->who);
  if (!filter) return call->fail(filter.error());
  listing->filter = std::move(*filter);
  const std::string* text = call->target.parameter("fields");
  auto fields = wire::parse_job_fields(text != nullptr ? *text : std::string{});
  if (!fields) return call->fail(fields.error());
  listing->fields = std::move(*fields);
  auto limit = number_parameter(call->target, "limit", 1000, 1, 10'000);
  if (!limit) return call->fail(limit.error());
  listing->limit = *limit;
  auto after = number_parameter(call->target, "after", 0, 0, UINT64_MAX);
  if (!after) return call->fail(after.error());
  listing->last = base::JobId{*after};
  go_on(listing);
}

namespace {
base::Error no_such_job(base::JobId id) {
  return {Code::not_found,
          "there is no such job (any more)",
          "id",
          {},
          std::to_string(id.value),
          "ended jobs: GET /v1/accounting?id=" + std::to_string(id.value)};
}

void answer_job(const CallPtr& call, base::JobId id) {
  const model::Job* job = call->state().find_job(id);
  if (job == nullptr) return call->fail(no_such_job(id));
  const std::string* text = call->target.parameter("fields");
  auto fields = wire::parse_job_fields(text != nullptr ? *text : std::string{});
  if (!fields) return call->fail(fields.error());
  std::string body;
  append_job_now(body, *call, *job, *fields);
  call->reply_json(std::move(body));
}
}  // namespace

void get_job(const CallPtr& call) {
  if (auto fit = only_parameters(call->target, {"fields", "wait", "for", "since"}); !fit) return call->fail(fit.error());
  const auto id = job_of(*call);
  if (!id) return call->fail(id.error());
  const auto wait = number_parameter(call->target, "wait", 0, 0, 60);
  if (!wait) return call->fail(wait.error());
  const auto since = number_parameter(call->target, "since", 0, 0, UINT64_MAX);
  if (!since) return call->fail(since.error());
  const std::string* what = call->target.parameter("for");
  if (what != nullptr && *what != "ended" && *what != "started" && *what != "change")
    return call->fail({Code::invalid_argument, "is nothing that can be waited for", "for", "ended, started, change", *what, {}});
  if (*wait == 0 || what == nullptr) return answer_job(call, *id);
  const bool change = *what == "change", ended = *what == "ended";
  if (change && call->api.long_polls().changed_since(*id, base::Sequence{*since})) return answer_job(call, *id);
  const auto ready = [raw = call.get(), id = *id, change, ended] {
    const model::Job* job = raw->state().find_job(id);
    if (job == nullptr || change || job->state == model::JobState::ended) return true;
    return !ended && job->attempt && job->attempt->started.has_value() && job->state != model::JobState::pending;
  };
  if (!change && ready()) return answer_job(call, *id);
  if (call->state().find_job(*id) == nullptr) return answer_job(call, *id);
  call->api.long_polls().wait(*id, base::seconds{static_cast<std::int64_t>(*wait)}, call, ready, [call, id = *id] {
    if (call->controller.ledger().fault()) return call->fail(*call->controller.ledger().fault());
    answer_job(call, id);
  });
}

// A script may hold secrets: its owner's, and an administrator's.
void get_script(const CallPtr& call) {
  const auto id = job_of(*call);
  if (!id) return call->fail(id.error());
  const model::Job* job = call->state().find_job(*id);
  if (job == nullptr) return call->fail(no_such_job(*id));
  if (job->uid != call->who.uid && !call->who.is_administrator())
    return call->fail({Code::forbidden, "the script belongs to the job's owner", "id", {}, std::to_string(id->value), {}});
  call->controller.blobs().get(job->script_digest.text(), [call, id = *id](const BlobText& text) {
    if (!text) return call->fail({Code::not_found, "the script is not kept any more", "id", {}, std::to_string(id.value), {}});
    http::Response response;
    response.content_type = "text/plain";
    response.headers.emplace_back("X-Content-Type-Options", "nosniff");
    response.body = *text;
    call->reply(std::move(response));
  });
}

}  // namespace sy::daemon::handlers
