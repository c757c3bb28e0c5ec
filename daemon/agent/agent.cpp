#include "daemon/agent/agent.hpp"

#include <pwd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <vector>

#include "daemon/runtime/clock.hpp"
#include "daemon/runtime/log.hpp"
#include "daemon/supervisor/cgroup.hpp"
#include "http/problem.hpp"

#ifndef SWITCHYARD_VERSION
#define SWITCHYARD_VERSION "0.1.0"
#endif

namespace sy::daemon {

using base::Code;
using base::fail;

namespace {

constexpr std::size_t reports_per_message = 500;
constexpr std::size_t largest_request = 64U << 20U;
constexpr base::Duration first_pause = std::chrono::milliseconds{200};
constexpr base::Duration longest_pause = std::chrono::seconds{5};
constexpr base::Duration between_looks = std::chrono::seconds{1};

std::int64_t boot_clock_us() {
  timespec t{};
  ::clock_gettime(CLOCK_BOOTTIME, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000 + t.tv_nsec / 1000;
}

// Blocks: the name service may be far away.
std::optional<Account> look_up_account(std::uint32_t uid) {
  std::vector<char> buffer(16384);
  passwd entry{};
  passwd* found = nullptr;
  int error = 0;
  while ((error = ::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found)) == ERANGE && buffer.size() < (1U << 20U))
    buffer.resize(buffer.size() * 2);
  if (error != 0 || found == nullptr) return std::nullopt;
  return Account{entry.pw_name, entry.pw_dir, entry.pw_shell};
}

http::Response ok(std::string body) {
  http::Response r;
  r.body = std::move(body);
  return r;
}

http::Response with_blame(http::Response r, core::ReportAttempt::Blame blame) {
  const char* word = blame == core::ReportAttempt::Blame::job ? "job" : blame == core::ReportAttempt::Blame::node ? "node" : nullptr;
  if (word == nullptr || r.body.empty() || r.body.front() != '{') return r;
  r.body.insert(1, std::string{R"("blame":")"} + word + "\",");
  return r;
}

supervisor::CgroupPlace find_cgroups(const std::string& root, const std::string& instance) {
  supervisor::CgroupPlace place;
  std::string why;
  place.root = root;
  place.parent = "switchyard/" + instance;
  place.mode = supervisor::Cgroup::prepare(place.root, place.parent, why);
  if (!why.empty()) log_warning("{}", why);
  return place;
}

std::string supervisor_program(const wire::AgentSettings& s) {
  if (!s.supervisor.empty()) return s.supervisor;
  std::error_code ignored;
  return (std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "switchyard-supervisor").string();
}

base::Duration longer(base::Duration pause) { return pause == base::Duration{} ? first_pause : std::min(pause * 2, longest_pause); }

SignatureHeaders headers_of(const http::Request& r) {
  const auto get = [&](std::string_view name) { return std::string{r.header(name)}; };
  return {get(header_key), get(header_time), get(header_nonce), get(header_signature)};
}

}  // namespace

Agent::Agent(http::Loop& loop, const wire::AgentSettings& settings, Identity identity, Machine machine, Spool spool)
    : loop_(loop),
      settings_(settings),
      identity_(std::move(identity)),
      machine_(std::move(machine)),
      spool_(std::move(spool)),
      worker_(loop),
      client_(loop, {.timeout = settings.request_timeout}),
      heartbeat_(loop),
      retry_reports_(loop),
      tend_(loop),
      retry_register_(loop) {
  Attempts::Site site;
  site.node = identity_.node;
  site.boot_id = machine_.boot_id;
  site.prolog = settings_.prolog;
  site.epilog = settings_.epilog;
  site.allow_root = settings_.allow_root;
  // Agents of several clusters may run on one machine, with equal names and job numbers: what ends one's job must not end another's.
  site.instance = identity_.node + "-" + spool_.id().substr(0, 8);
  site.cgroup = find_cgroups(settings_.cgroup_root, site.instance);
  site.has_gpus = std::any_of(machine_.shape.gres.begin(), machine_.shape.gres.end(), [](const auto& g) { return g.name == "gpu"; });
  if (auto files = JobFiles::open(settings_.job_files.empty() ? settings_.spool + "-jobs" : settings_.job_files); files)
    site.job_files = std::make_shared<const JobFiles>(std::move(*files));
  else log_warning("jobs get no placement map: {}", base::to_text(files.error()));
  attempts_ = std::make_unique<Attempts>(loop_, spool_, std::move(site), CpuBinding{machine_.cpus}, supervisor_program(settings_),
                                         [this] { loop_.post([this] { send_reports(); }); });
}

base::Result<void> Agent::start() {
  attempts_->recover();
  http::ServerOptions options;
  options.max_body_bytes = largest_request;
  server_ = std::make_unique<http::Server>(
      loop_, options, [this](const http::Request& request, const http::Responder& responder) { handle(request, responder); });
  const auto port = server_->listen_tcp(settings_.listen.address, settings_.listen.port);
  if (!port) return fail(port.error());
  port_ = *port;
  register_node();
  tend_.start(between_looks, [this] { tend(); });
  return {};
}

void Agent::tend() {
  attempts_->tend(wall_now());
  tend_.start(between_looks, [this] { tend(); });
}

void Agent::handle(const http::Request& request, const http::Responder& responder) {
  bool later = false;
  http::Response response = serve(request, responder, later);
  if (!later) responder(std::move(response));
}

// Nothing is looked at before the signature, and nobody but the controller is served.
http::Response Agent::serve(const http::Request& request, const http::Responder& responder, bool& later) {
  const SignatureHeaders headers = headers_of(request);
  if (headers.key != "controller")
    return http::problem({Code::unauthenticated, "this agent answers its controller only", std::string{header_key}, {}, {}, {}});
  const auto verified = check_signature(identity_.controller_key, headers, {request.method, request.target, request.body, identity_.node},
                                        wall_now(), signatures_);
  if (!verified) return http::problem(verified.error());
  if (request.target == "/v1/status" && request.method == "GET") return ok(wire::message_text(registration()));
  if (request.method != "POST") return http::problem({Code::not_found, "no such request", "path", {}, request.target, {}});
  // What was fenced must be known first, or an attempt that was given up could start beside its successor. And an agent whose
  // spool is new must not answer that an attempt is over which its predecessor may have left running.
  if (!registered_) return http::problem({Code::unavailable, "the node has not registered yet", {}, {}, {}, "try again in a moment"});
  if (request.target == "/v1/launch") {
    auto message = wire::message_from_text<wire::LaunchMessage>(request.body);
    if (!message) return http::problem(message.error());
    if (const auto good = check(*message); !good) return http::problem(good.error());
    later = true;
    launch(std::move(*message), responder);
    return {};
  }
  if (request.target == "/v1/end") return with<wire::EndMessage>(request, [this](const auto& m) { return attempts_->end(m, wall_now()); });
  if (request.target == "/v1/signal") return with<wire::SignalMessage>(request, [this](const auto& m) { return attempts_->signal(m); });
  if (request.target == "/v1/time-limit")
    return with<wire::TimeLimitMessage>(request, [this](const auto& m) { return attempts_->set_time_limit(m); });
  if (request.target == "/v1/forget")
    return with<wire::ForgetMessage>(request, [this](const auto& m) {
      attempts_->forget({m.job, m.attempt});
      return base::Result<void>{};
    });
  return http::problem({Code::not_found, "no such request", "path", {}, request.target, {}});
}

template <class Message, class Act>
http::Response Agent::with(const http::Request& request, Act act) {
  const auto message = wire::message_from_text<Message>(request.body);
  if (!message) return http::problem(message.error());
  if (const auto good = check(*message); !good) return http::problem(good.error());
  const base::Result<void> done = act(*message);
  return done ? ok("{}") : http::problem(done.error());
}

// Bound to this node and this term, in time, and used once.
base::Result<void> Agent::check(const wire::Capability& c) {
  const base::Time now = wall_now();
  if (!equal_in_constant_time(c.node, identity_.node)) return fail(Code::forbidden, "the capability is for another node", "node", c.node);
  if (c.expires <= now)
    return fail(Code::unauthenticated, "the capability has expired", "expires_us", std::to_string(base::micros(c.expires)),
                "synchronise the clocks of controller and nodes");
  if (c.epoch < spool_.epoch())
    return fail({Code::conflict, "this node has seen a later controller", "epoch", std::to_string(spool_.epoch()), std::to_string(c.epoch),
                 "stop the older one"});
  if (const auto kept = spool_.remember_epoch(c.epoch); !kept) return fail(kept.error());
  return capabilities_.remember(std::to_string(c.epoch), c.nonce, c.expires, now);
}

void Agent::launch(wire::LaunchMessage message, http::Responder responder) {
  auto m = std::make_shared<wire::LaunchMessage>(std::move(message));
  auto account = std::make_shared<std::optional<Account>>();
  auto look_up = [m, account] { *account = look_up_account(m->uid.value); };
  auto go_on = [this, m, account, responder = std::move(responder)] {
    const auto done = attempts_->launch(*m, *account, wall_now());
    if (done) return responder(ok(R"({"accepted":true})"));
    const Refusal& refusal = done.error();
    log_warning("attempt {}.{} refused: {}", m->job.value, m->attempt.value, base::to_text(refusal.error));
    responder(with_blame(http::problem(refusal.error), refusal.blame));
  };
  worker_.run(std::move(look_up), std::move(go_on));
}

wire::RegisterMessage Agent::registration() const {
  wire::RegisterMessage m;
  m.shape = machine_.shape;
  m.boot_id = machine_.boot_id;
  m.spool_id = spool_.id();
  m.version = SWITCHYARD_VERSION;
  m.address = settings_.node_address;
  m.port = port_;
  m.boot_time = machine_.boot_time;
  m.labels = settings_.labels;
  m.attempts = attempts_->seen();
  return m;
}

void Agent::post(const std::string& target, std::string body, std::function<void(Reply)> done) {
  http::Request request;
  request.method = "POST";
  request.target = target;
  request.body = std::move(body);
  const auto h = sign_request(identity_.key, identity_.node, {request.method, request.target, request.body, "controller"}, wall_now());
  request.headers = {{"Content-Type", "application/json"},
                     {std::string{header_key}, h.key},
                     {std::string{header_time}, h.time},
                     {std::string{header_nonce}, h.nonce},
                     {std::string{header_signature}, h.signature}};
  const http::Endpoint to{{}, settings_.controller.address, settings_.controller.port};
  client_.send(to, std::move(request), std::move(done));
}

void Agent::register_node() {
  if (registering_) return;
  registering_ = true;
  post("/v1/agent/register", wire::message_text(registration()), [this, asked = boot_clock_us()](const Reply& reply) {
    registering_ = false;
    registered(reply);
    if (registered_) controller_answered(asked);
  });
}

void Agent::later_register() {
  register_pause_ = longer(register_pause_);
  retry_register_.start(register_pause_, [this] { register_node(); });
}

void Agent::registered(const Reply& reply) {
  const auto answer = reply && reply->status == 200 ? wire::message_from_text<wire::RegisterAnswer>(reply->body)
                                                    : base::Result<wire::RegisterAnswer>{fail(Code::unavailable, "")};
  if (!answer) {
    const std::string why = !reply                 ? base::to_text(reply.error())
                            : reply->status != 200 ? std::to_string(reply->status) + " " + reply->body.substr(0, 500)
                                                   : base::to_text(answer.error());
    log_warning("could not register with the controller: {}", why);
    return later_register();
  }
  if (answer->epoch < spool_.epoch()) {
    log_warning("the controller that answered is older than one seen before: not registered with it");
    return later_register();
  }
  if (const auto kept = spool_.remember_epoch(answer->epoch); !kept) {
    log_error("{}", base::to_text(kept.error()));
    return later_register();
  }
  for (const auto& name : answer->fenced) attempts_->kill({name.job, name.attempt});
  register_pause_ = {};
  beat_every_ = std::clamp<base::Duration>(answer->heartbeat, std::chrono::milliseconds{50}, std::chrono::hours{1});
  lease_ = answer->lease;
  if (!registered_) log_info("registered as {} with the controller, epoch {}", identity_.node, answer->epoch);
  registered_ = true;
  heartbeat_.start(beat_every_, [this] { beat(); });
  send_reports();
}

// A lease counts from when we asked: the controller's own count begins later.
void Agent::controller_answered(std::int64_t asked_at_us) {
  spool_.write_lease(lease_ ? std::optional{asked_at_us + lease_->count()} : std::nullopt);
}

void Agent::beat() {
  heartbeat_.start(beat_every_, [this] { beat(); });
  post("/v1/agent/heartbeat", wire::message_text(wire::HeartbeatMessage{machine_.boot_id, spool_.id()}),
       [this, asked = boot_clock_us()](const Reply& reply) {
         if (!reply) return log_debug("heartbeat: {}", base::to_text(reply.error()));
         const auto answer = reply->status == 200 ? wire::message_from_text<wire::HeartbeatAnswer>(reply->body)
                                                  : base::Result<wire::HeartbeatAnswer>{fail(Code::unavailable, "")};
         if (!answer) return log_warning("heartbeat answered {}: {}", reply->status, reply->body.substr(0, 300));
         if (answer->epoch >= spool_.epoch()) controller_answered(asked);
         if (answer->register_again || answer->epoch != spool_.epoch()) register_node();
         else send_reports();
       });
}

void Agent::send_reports() {
  if (reporting_ || !registered_ || retry_reports_.running()) return;
  wire::ReportsMessage message;
  message.reports = attempts_->due_reports(reports_per_message);
  if (message.reports.empty()) return;
  reporting_ = true;
  post("/v1/agent/reports", wire::message_text(message), [this](const Reply& reply) {
    reporting_ = false;
    take_acknowledgements(reply);
  });
}

void Agent::take_acknowledgements(const Reply& reply) {
  const auto answer = reply && reply->status == 200 ? wire::message_from_text<wire::ReportsAnswer>(reply->body)
                                                    : base::Result<wire::ReportsAnswer>{fail(Code::unavailable, "")};
  if (answer && !answer->acknowledged.empty()) {
    for (const auto& name : answer->acknowledged) attempts_->acknowledged(name);
    report_pause_ = {};
    return send_reports();
  }
  const std::string why = !reply ? base::to_text(reply.error()) : std::to_string(reply->status) + " " + reply->body.substr(0, 300);
  log_warning("reports were not acknowledged: {}", why);
  report_pause_ = longer(report_pause_);
  retry_reports_.start(report_pause_, [this] { send_reports(); });
}

}  // namespace sy::daemon
