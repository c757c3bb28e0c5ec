// What can be done to one job. Whose it is and whether its state allows it: the core's one check for all verbs.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/signals.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/job_views.hpp"
#include "daemon/api/small_body.hpp"
#include "http/problem.hpp"
#include "wire/job_change_json.hpp"

namespace sy::daemon::handlers {

namespace {
using base::Code;

// Runs it; answers with the state the job is in then.
void act(const CallPtr& call, base::JobId id, core::Action action) {
  const auto outcome = call->execute(std::move(action));
  if (!outcome.reply) return call->fail(outcome.reply.error());
  const model::Job* job = call->state().find_job(id);
  std::string body = fmt::format("{{\"id\":{}", id.value);
  if (job != nullptr) body += fmt::format(",\"state\":\"{}\"", model::state_name(job->state));
  if (!outcome.reply->warnings.empty()) {
    body += ",\"warnings\":[";
    for (std::size_t i = 0; i < outcome.reply->warnings.size(); ++i)
      body += (i > 0 ? "," : "") + http::json_string(outcome.reply->warnings[i]);
    body += ']';
  }
  call->reply_json(body + "}");
}
}  // namespace

void cancel_job(const CallPtr& call) {
  const auto id = job_of(*call);
  if (!id) return call->fail(id.error());
  if (auto body = small_body(*call, {}); !body) return call->fail(body.error());
  act(call, *id, core::CancelJob{*id});
}

void hold_job(const CallPtr& call) {
  const auto id = job_of(*call);
  if (!id) return call->fail(id.error());
  if (auto body = small_body(*call, {}); !body) return call->fail(body.error());
  act(call, *id, core::HoldJob{*id});
}

void release_job(const CallPtr& call) {
  const auto id = job_of(*call);
  if (!id) return call->fail(id.error());
  if (auto body = small_body(*call, {}); !body) return call->fail(body.error());
  act(call, *id, core::ReleaseJob{*id});
}

void requeue_job(const CallPtr& call) {
  const auto id = job_of(*call);
  if (!id) return call->fail(id.error());
  auto body = small_body(*call, {"hold"});
  if (!body) return call->fail(body.error());
  auto hold = flag_of(*body, "hold");
  if (!hold) return call->fail(hold.error());
  act(call, *id, core::RequeueJob{*id, *hold});
}

void signal_job(const CallPtr& call) {
  const auto id = job_of(*call);
  if (!id) return call->fail(id.error());
  auto body = small_body(*call, {"signal", "batch_only", "whole_job"});
  if (!body) return call->fail(body.error());
  core::SignalJob command{*id, 0, false, false};
  const auto name = body->find("signal");
  if (name == body->end()) return call->fail({Code::invalid_argument, "is missing", "signal", {}, {}, "for example {\"signal\":\"USR1\"}"});
  if (!name->is_string() && !name->is_number_integer())
    return call->fail({Code::invalid_argument, "must be a name or a number", "signal", {}, {}, {}});
  auto number = base::parse_signal(name->is_string() ? name->get<std::string>() : std::to_string(name->get<std::int64_t>()));
  if (!number) return call->fail(number.error());
  command.signal = *number;
  auto batch_only = flag_of(*body, "batch_only"), whole_job = flag_of(*body, "whole_job");
  if (!batch_only) return call->fail(batch_only.error());
  if (!whole_job) return call->fail(whole_job.error());
  command.batch_only = *batch_only;
  command.whole_job = *whole_job;
  act(call, *id, command);
}

void change_job(const CallPtr& call) {
  const auto id = job_of(*call);
  if (!id) return call->fail(id.error());
  auto json = wire::parse_json(call->request.body);
  if (!json) return call->fail(json.error());
  auto change = wire::job_change_from_json(*json);
  if (!change) return call->fail(change.error());
  act(call, *id, core::UpdateJob{*id, std::move(*change)});
}

}  // namespace sy::daemon::handlers
