// POST /v1/jobs: a submission, or the answer what would become of it (dry run).
#include <fmt/format.h>

#include "core/decide/check_spec.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/submission.hpp"
#include "daemon/controller/launch_message.hpp"
#include "daemon/runtime/crypto.hpp"
#include "http/problem.hpp"
#include "model/job_target.hpp"
#include "sched/pass.hpp"
#include "wire/views.hpp"

namespace sy::daemon::handlers {

namespace {
std::string warnings_text(const std::vector<std::string>& warnings) {
  std::string out;
  for (const std::string& each : warnings) out += (out.empty() ? "" : ",") + http::json_string(each);
  return "[" + out + "]";
}

struct Trial {
  sched::View view;
  sched::Plan plan;
};

void answer_trial(const CallPtr& call, base::JobId id, const std::vector<std::string>& warnings, const sched::Plan& plan) {
  const model::State& state = call->state();
  std::string body = fmt::format("{{\"id\":{},\"warnings\":{}", id.value, warnings_text(warnings));
  const auto start = std::find_if(plan.starts.begin(), plan.starts.end(), [&](const sched::Start& s) { return s.job == id; });
  if (start != plan.starts.end()) {
    std::int64_t thousandths = 0;
    for (const model::NodeGrant& grant : start->nodes) thousandths += grant.used.cpus.value;
    body += ",\"verdict\":";
    wire::append_verdict(body, model::Verdict{});
    body += fmt::format(",\"start_us\":{},\"nodes\":{},\"processors\":{},\"partition\":{}}}", base::micros(call->controller.now()),
                        http::json_string(wire::hostlist_in_order(start->nodes, state)), base::cpu_count(base::Cpus{thousandths}),
                        http::json_string(start->partition));
    if (start->placement) {
      body.back() = ',';
      body += "\"placement\":";
      wire::append_placement(body, *start->placement, state);
      body += '}';
    }
  } else {
    const sched::Forecast* forecast = plan.forecast_of(id);
    body += ",\"verdict\":";
    wire::append_verdict(body, forecast != nullptr ? forecast->verdict() : model::Verdict{});
    const bool planned = forecast != nullptr && forecast->planned;
    body += fmt::format(",\"start_us\":{},\"nodes\":{},\"processors\":null,\"partition\":null}}",
                        planned ? std::to_string(base::micros(forecast->planned->start)) : "null",
                        planned ? http::json_string(wire::hostlist_of(forecast->planned->nodes, state)) : "null");
  }
  call->reply_json(std::move(body));
}

// A pass over the cluster as it is, with this job at its place in the queue.
void try_out(const CallPtr& call, std::shared_ptr<const model::JobSpec> spec, base::JobId id, std::vector<std::string> warnings) {
  const model::State& state = call->state();
  auto trial = std::make_shared<Trial>();
  trial->view = sched::make_view(state, state.shape ? state.shape : model::make_shape(state));
  const base::Time now = call->controller.now();
  const bool names_jobs = model::names_jobs(spec->groups.front());
  trial->view.waiting.push_back({id, std::move(spec), call->who.uid, now, now, false, false, false, names_jobs});
  if (names_jobs) sched::look_at_running_jobs(trial->view, state);
  call->controller.reader().run([trial, now] { trial->plan = sched::plan_pass(trial->view, now); },
                                [trial, call, id, warnings = std::move(warnings)] { answer_trial(call, id, warnings, trial->plan); });
}
}  // namespace

void submit_job(const CallPtr& call) {
  auto submission = read_submission(call->request.body);
  call->request.body = {};
  if (!submission) return call->fail(submission.error());
  auto spec = std::make_shared<const model::JobSpec>(std::move(submission->spec));
  auto script = std::make_shared<const std::string>(std::move(submission->script));
  auto environment = std::make_shared<const std::string>(join_environment(submission->environment));
  const std::string script_digest = sha256_hex(*script), environment_digest = sha256_hex(*environment);
  core::SubmitJob command{spec, *base::Digest::from_text(script_digest), *base::Digest::from_text(environment_digest), submission->dry_run};
  std::vector<Blob> blobs;
  if (!submission->dry_run) blobs = {{script_digest, *script}, {environment_digest, *environment}};
  const auto outcome = call->execute(std::move(command), std::move(blobs));
  if (!outcome.reply) return call->fail(outcome.reply.error());
  if (submission->dry_run) {
    const base::JobId id = outcome.reply->job.value != 0 ? outcome.reply->job : call->state().next_job_id;
    auto resolved = std::make_shared<model::JobSpec>(*spec);  // as the core would keep it
    std::vector<std::string> ignored;
    if (auto partitions = core::resolve_partitions(call->state(), call->who, *spec, ignored)) resolved->partitions = std::move(*partitions);
    return try_out(call, std::move(resolved), id, outcome.reply->warnings);
  }
  call->controller.blobs().put(script_digest, script);
  call->controller.blobs().put(environment_digest, environment);
  call->reply_json(fmt::format("{{\"id\":{},\"warnings\":{}}}", outcome.reply->job.value, warnings_text(outcome.reply->warnings)), 201);
}

}  // namespace sy::daemon::handlers
