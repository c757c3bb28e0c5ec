// GET /v1/accounting: attempts that have ended, from the store, and jobs that wait or run, from State: the newest truth of each.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "daemon/api/handlers.hpp"
#include "daemon/api/job_views.hpp"

namespace sy::daemon::handlers {

namespace {
using base::Code;

struct Query {
  JobFilter filter;
  AccountingQuery stored;
  std::vector<wire::JobField> fields;
};

std::optional<base::Time> time_parameter(const std::uint64_t us) {
  return us == 0 ? std::nullopt : std::optional(base::time_from_micros(static_cast<std::int64_t>(us)));
}

base::Result<Query> read_query(const Call& call) {
  static const auto known = filter_parameters({"since_us", "until_us", "duplicates", "limit", "after", "fields"});
  if (auto fit = only_parameters(call.target, known); !fit) return base::fail(fit.error());
  Query query;
  auto filter = read_job_filter(call.target, call.state(), call.who);
  if (!filter) return base::fail(filter.error());
  query.filter = std::move(*filter);
  AccountingQuery& q = query.stored;
  q.jobs = query.filter.ids;
  q.users = query.filter.users;
  q.partitions = query.filter.partitions;
  q.names = query.filter.names;
  for (const auto& [member, values] : query.filter.annotations)  // the store finds accounts; the others are picked from what it found
    if (member == &model::Annotations::account) q.accounts = values;
  for (const auto& [state, outcome] : query.filter.states)
    if (state == model::JobState::ended) q.outcomes.emplace_back(model::outcome_name(outcome));
  if (query.filter.requeued) q.outcomes.emplace_back(model::outcome_name(model::Outcome::cancelled));  // as they are stored
  if (query.filter.nodes)
    for (const base::NodeIndex node : *query.filter.nodes) q.nodes.push_back(call.state().nodes[node.value].name);
  for (const auto& [name, at] : {std::pair{"since_us", &q.since}, std::pair{"until_us", &q.until}}) {
    const auto value = number_parameter(call.target, name, 0, 0, INT64_MAX);
    if (!value) return base::fail(value.error());
    *at = time_parameter(*value);
  }
  const auto duplicates = number_parameter(call.target, "duplicates", 0, 0, 1);
  if (!duplicates) return base::fail(duplicates.error());
  q.duplicates = *duplicates == 1;
  const auto limit = number_parameter(call.target, "limit", 1000, 1, 10'000);
  if (!limit) return base::fail(limit.error());
  q.limit = static_cast<std::uint32_t>(*limit);
  const auto after = number_parameter(call.target, "after", 0, 0, UINT64_MAX);
  if (!after) return base::fail(after.error());
  q.after_job = *after;
  const std::string* text = call.target.parameter("fields");
  auto fields = wire::parse_job_fields(text != nullptr ? *text : std::string{});
  if (!fields) return base::fail(fields.error());
  query.fields = std::move(*fields);
  return query;
}

// Waiting and live jobs above `after`; at most so many.
std::vector<const model::Job*> unfinished(const model::State& state, const Query& query) {
  std::vector<const model::Job*> out;
  for (const auto* ids : {&state.waiting, &state.live})
    for (auto at = ids->upper_bound(base::JobId{query.stored.after_job}); at != ids->end() && out.size() < 2U * query.stored.limit; ++at) {
      const model::Job& job = state.jobs.at(*at);
      if (query.filter.matches(job) && (!query.stored.until || job.submitted <= *query.stored.until)) out.push_back(&job);
    }
  return out;
}

// `unfinished_before`: the jobs that waited or ran when the store was asked. One that has ended since is in neither place, but still in State.
void answer(const CallPtr& call, const Query& query, const std::vector<base::JobId>& unfinished_before,
            const std::vector<AccountingRow>& rows) {
  const model::State& state = call->state();
  std::multimap<std::pair<base::JobId, base::AttemptNumber>, const model::Job*> merged;
  const bool all_outcomes = query.filter.states.empty() || !query.stored.outcomes.empty();
  if (all_outcomes)
    for (const AccountingRow& row : rows)
      if (query.filter.annotations_match(row.at_end) && query.filter.state_matches(row.at_end))
        merged.emplace(std::pair{row.job, row.attempt}, &row.at_end);
  for (const model::Job* job : unfinished(state, query)) {
    if (!query.stored.duplicates)  // the newest truth is that it lives on
      merged.erase(merged.lower_bound({job->id, base::AttemptNumber{0}}), merged.upper_bound({job->id, base::AttemptNumber{UINT32_MAX}}));
    merged.emplace(std::pair{job->id, base::AttemptNumber{UINT32_MAX}}, job);
  }
  for (const base::JobId id : unfinished_before) {
    const model::Job* job = state.find_job(id);
    if (job != nullptr && job->state == model::JobState::ended && query.filter.matches(*job) && !merged.contains({id, job->last_attempt}))
      merged.emplace(std::pair{id, job->last_attempt}, job);
  }
  std::string body = "{\"attempts\":[";
  std::size_t written = 0;
  base::JobId last{query.stored.after_job};
  bool more = rows.size() >= query.stored.limit;
  const base::JobId horizon = more && !rows.empty() ? rows.back().job : base::JobId{UINT64_MAX};  // beyond it the store was not asked
  for (const auto& [key, job] : merged) {
    if (key.first > horizon || (written >= query.stored.limit && key.first != last)) {
      more = true;
      break;
    }
    if (written++ > 0) body += ',';
    last = key.first;
    if (job->state == model::JobState::ended) wire::append_job(body, *job, state, nullptr, query.fields, call->controller.now());
    else append_job_now(body, *call, *job, query.fields);
  }
  if (more && last < horizon && written < query.stored.limit && horizon.value != UINT64_MAX) last = horizon;
  body += fmt::format("],\"next\":{},\"sequence\":{}}}", more ? std::to_string(last.value) : "null", state.sequence.value);
  call->reply_json(std::move(body));
}
}  // namespace

void list_accounting(const CallPtr& call) {
  auto query = read_query(*call);
  if (!query) return call->fail(query.error());
  // What has ended must be on disk before the store is asked, or an attempt would be in neither place.
  auto shared = std::make_shared<Query>(std::move(*query));
  call->controller.ledger().when_committed(call->state().sequence, [call, shared](const base::Error* failed) {
    if (failed != nullptr) return call->fail(*failed);
    auto rows = std::make_shared<std::vector<AccountingRow>>();
    auto failure = std::make_shared<std::string>();
    std::vector<base::JobId> before;
    for (const model::Job* job : unfinished(call->state(), *shared)) before.push_back(job->id);
    call->controller.reader().run(
        [rows, failure, shared, &store = call->controller.store()] {
          try {
            *rows = store.accounting(shared->stored);
          } catch (const std::exception& e) { *failure = e.what(); }
        },
        [call, shared, rows, failure, before = std::move(before)] {
          if (!failure->empty())
            return call->fail({Code::unavailable, "the accounting can not be read: " + *failure, {}, {}, {}, "try again"});
          answer(call, *shared, before, *rows);
        });
  });
}

}  // namespace sy::daemon::handlers
