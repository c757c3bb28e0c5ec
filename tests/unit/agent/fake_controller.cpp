#include "unit/agent/fake_controller.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "daemon/runtime/clock.hpp"
#include "daemon/supervisor/process_tree.hpp"
#include "http/blocking_client.hpp"
#include "http/problem.hpp"
#include "support/catch.hpp"

using namespace sy;
using What = core::ReportAttempt::What;

extern char** environ;

namespace {

constexpr const char* node = "n1";

std::string read_file(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

http::Response json(std::string body) {
  http::Response r;
  r.body = std::move(body);
  return r;
}

}  // namespace

void wait_until(const std::string& what, const std::function<bool()>& is_true) {
  for (int i = 0; i < 6000; ++i) {
    if (is_true()) return;
    ::usleep(10'000);
  }
  FAIL("not within a minute: " << what);
}

FakeController::FakeController() {
  server_ = std::make_unique<http::Server>(loop_, http::ServerOptions{},
                                           [this](const http::Request& request, const http::Responder& done) { done(answer(request)); });
  port_ = server_->listen_tcp("127.0.0.1", 0).value();
  thread_ = std::thread([this] { loop_.run(); });
}

FakeController::~FakeController() {
  loop_.stop();
  thread_.join();
}

std::string FakeController::token(const std::string& name) const {
  return name + "." + secret_ + "." + daemon::key_fingerprint(key_.public_key());
}

http::Response FakeController::answer(const http::Request& request) {
  const std::lock_guard guard(lock_);
  if (request.target == "/v1/agent/enrol") {
    const auto m = wire::message_from_text<wire::EnrolMessage>(request.body).value();
    if (m.token.find(secret_) == std::string::npos) return http::problem({base::Code::forbidden, "no such token", {}, {}, {}, {}});
    node_ = node;
    node_key_ = m.public_key;
    return json(wire::message_text(wire::EnrolAnswer{node_, "test", key_.public_key()}));
  }
  const auto h = [&](std::string_view name) { return std::string{request.header(name)}; };
  const daemon::SignatureHeaders headers{h(daemon::header_key), h(daemon::header_time), h(daemon::header_nonce),
                                         h(daemon::header_signature)};
  const auto good = daemon::check_signature(node_key_, headers, {request.method, request.target, request.body, "controller"},
                                            daemon::wall_now(), nonces_);
  if (!good) return http::problem(good.error());
  if (request.target == "/v1/agent/register") registration_ = wire::message_from_text<wire::RegisterMessage>(request.body).value();
  if (deaf_) return http::problem({base::Code::unavailable, "deaf", {}, {}, {}, {}});
  if (request.target == "/v1/agent/register") {
    ++registrations_;
    return json(wire::message_text(wire::RegisterAnswer{epoch_, std::chrono::milliseconds{100}, lease_, fenced_}));
  }
  if (request.target == "/v1/agent/heartbeat") return json(wire::message_text(wire::HeartbeatAnswer{epoch_, false}));
  if (request.target == "/v1/agent/reports") return take_reports(request.body);
  return http::problem({base::Code::not_found, "no such request", {}, {}, {}, {}});
}

http::Response FakeController::take_reports(const std::string& body) {
  wire::ReportsAnswer answer;
  auto message = wire::message_from_text<wire::ReportsMessage>(body).value();
  for (auto& r : message.reports) {
    if (acknowledge_) answer.acknowledged.push_back({r.job, r.attempt, r.what});
    reports_.push_back(std::move(r));
  }
  if (acknowledge_) return json(wire::message_text(answer));
  return http::problem({base::Code::unavailable, "can not store", {}, {}, {}, {}});
}

std::vector<wire::AttemptReport> FakeController::reports() const {
  const std::lock_guard guard(lock_);
  return reports_;
}
std::optional<wire::AttemptReport> FakeController::report(std::uint64_t job, What what) const {
  for (const auto& r : reports())
    if (r.job.value == job && r.what == what) return r;
  return std::nullopt;
}
wire::AttemptReport FakeController::wait_for(std::uint64_t job, What what) const {
  wait_until("report " + std::to_string(static_cast<int>(what)) + " of job " + std::to_string(job),
             [&] { return report(job, what).has_value(); });
  return *report(job, what);
}
int FakeController::received(std::uint64_t job, What what) const {
  int n = 0;
  for (const auto& r : reports()) n += r.job.value == job && r.what == what ? 1 : 0;
  return n;
}
std::optional<wire::RegisterMessage> FakeController::registration() const {
  const std::lock_guard guard(lock_);
  return registration_;
}
int FakeController::registrations() const {
  const std::lock_guard guard(lock_);
  return registrations_;
}
void FakeController::acknowledge(bool on) {
  const std::lock_guard guard(lock_);
  acknowledge_ = on;
}
void FakeController::set_fenced(std::vector<wire::AttemptName> f) {
  const std::lock_guard guard(lock_);
  fenced_ = std::move(f);
}
void FakeController::set_epoch(std::uint64_t e) {
  const std::lock_guard guard(lock_);
  epoch_ = e;
}
void FakeController::set_lease(std::optional<base::Duration> l) {
  const std::lock_guard guard(lock_);
  lease_ = l;
}
void FakeController::set_deaf(bool on) {
  const std::lock_guard guard(lock_);
  deaf_ = on;
}

http::Request FakeController::sign(const std::string& method, const std::string& target, std::string body,
                                   const daemon::KeyPair* signer) const {
  http::Request request;
  request.method = method;
  request.target = target;
  request.body = std::move(body);
  const auto h =
      daemon::sign_request(signer != nullptr ? *signer : key_, "controller", {method, target, request.body, node}, daemon::wall_now());
  request.headers = {{std::string{daemon::header_key}, h.key},
                     {std::string{daemon::header_time}, h.time},
                     {std::string{daemon::header_nonce}, h.nonce},
                     {std::string{daemon::header_signature}, h.signature}};
  return request;
}

FakeController::Sent FakeController::send(const http::Request& request) const {
  http::BlockingClient client{http::Endpoint{{}, "127.0.0.1", registration().value().port}};
  const auto reply = client.send(request);
  if (!reply) return {0, base::to_text(reply.error())};
  return {reply->status, reply->body};
}

void FakeController::fill(wire::Capability& m, std::uint64_t job, std::uint32_t attempt) const {
  m.job = base::JobId{job};
  m.attempt = base::AttemptNumber{attempt};
  m.epoch = epoch_;
  m.node = node;
  m.expires = daemon::wall_now() + std::chrono::seconds{120};
  m.nonce = daemon::random_hex(16);
}

wire::LaunchMessage FakeController::launch(std::uint64_t job, const std::string& script, const std::string& work_dir) const {
  wire::LaunchMessage m;
  fill(m, job, 1);
  const bool root = ::geteuid() == 0;
  m.user = root ? "nobody" : "me";
  m.uid = base::Uid{root ? 65534 : ::geteuid()};
  m.gid = base::Gid{root ? 65534 : ::getegid()};
  m.groups = {m.gid};
  m.job_name = "test";
  m.partition = "main";
  m.cluster = "test";
  m.nodes = {node};
  m.nodes_text = node;
  m.tasks = {1};
  m.cpus = base::whole_cpus(1);
  m.cpus_per_task = base::whole_cpus(1);
  m.work_dir = work_dir;
  m.std_out = "out.txt";
  m.append_output = true;
  m.script_base64 = daemon::to_base64("#!/bin/sh\n" + script);
  m.environment = {"GIVEN=yes"};
  m.kill_grace = std::chrono::milliseconds{500};
  return m;
}

AgentProcess::AgentProcess(FakeController& controller, const std::string& extra) : controller_(controller) {
  char name[] = "/tmp/switchyard-agent-XXXXXX";
  root = ::mkdtemp(name);
  ::chmod(root.c_str(), 0755);
  work_dir = root + "/work";
  ::mkdir(work_dir.c_str(), 0777);
  ::chmod(work_dir.c_str(), 0777);
  std::ofstream(root + "/boot") << "boot-1\n";
  std::ofstream(root + "/agent.yaml") << "name: " << node << "\ncontroller: 127.0.0.1:" << controller.port()
                                      << "\nlisten: 127.0.0.1:0\naddress: 127.0.0.1\n"
                                      << "spool: " << root << "/spool\nkey_dir: " << root << "/keys\nsupervisor: " << SWITCHYARD_SUPERVISOR
                                      << "\nboot_id_file: " << root << "/boot\ncpus: 4\nmemory: 2GiB\ngres: [gpu:2]\n"
                                      << extra;
}

AgentProcess::~AgentProcess() {
  kill();
  std::error_code ignored;
  for (const auto& r : std::filesystem::directory_iterator(spool() + "/attempts", ignored)) {
    const std::string key = r.path().filename();
    const auto left = supervisor::processes_with_environment(mark(key));
    if (const pid_t pid = supervisor_of(std::stoull(key)); pid > 0) ::kill(pid, SIGKILL);
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
  }
  // Of a spool that was taken away nothing but the folder tells whose they are.
  for (const pid_t pid : supervisor::processes_with_environment("SLURM_SUBMIT_DIR=" + work_dir)) ::kill(pid, SIGKILL);
  remove_groups();
  std::filesystem::remove_all(root, ignored);
}

pid_t AgentProcess::spawn(const std::vector<std::string>& more, const std::string& input) const {
  std::ofstream(root + "/input") << input;
  std::vector<std::string> words{SWITCHYARD_AGENT, "--config", root + "/agent.yaml"};
  words.insert(words.end(), more.begin(), more.end());
  std::vector<char*> argv;
  for (auto& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, (root + "/input").c_str(), O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, (root + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t pid = 0;
  REQUIRE(::posix_spawn(&pid, SWITCHYARD_AGENT, &actions, nullptr, argv.data(), environ) == 0);
  ::posix_spawn_file_actions_destroy(&actions);
  return pid;
}

int AgentProcess::enrol(const std::string& token) {
  int status = 0;
  REQUIRE(::waitpid(spawn({"--enrol", "-"}, token + "\n"), &status, 0) > 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void AgentProcess::start() { start_until("registered as"); }
void AgentProcess::start_unregistered() { start_until("could not register"); }

void AgentProcess::start_until(const std::string& words) {
  if (!enrolled_) REQUIRE(enrol(controller_.token(node)) == 0);
  enrolled_ = true;
  const auto said = [&] {
    const std::string text = log();
    int n = 0;
    for (std::size_t at = 0; (at = text.find(words, at)) != std::string::npos; ++at) ++n;
    return n;
  };
  const int before = said();
  pid_ = spawn({}, "");
  wait_until(words, [&] { return said() > before; });
}

void AgentProcess::kill() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

int AgentProcess::stop() {
  int status = 0;
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, &status, 0);
  pid_ = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string AgentProcess::log() const { return read_file(root + "/log"); }
std::string AgentProcess::output(const std::string& name) const { return read_file(work_dir + "/" + name); }

pid_t AgentProcess::supervisor_of(std::uint64_t job) const {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string pid = entry.path().filename();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string line = read_file(entry.path() / "cmdline");
    if (line.find("switchyard-supervisor") != std::string::npos &&
        line.find(root + "/spool/attempts/" + std::to_string(job) + ".") != std::string::npos)
      return static_cast<pid_t>(std::stol(pid));
  }
  return 0;
}

// The control groups that it made; those that are still in use stay.
void AgentProcess::remove_groups() const {
  std::string id;
  std::ifstream(spool() + "/spool_id") >> id;
  std::vector<std::filesystem::path> above{"/sys/fs/cgroup"};
  std::error_code ignored;
  for (const auto& controller : std::filesystem::directory_iterator(above.front(), ignored)) above.push_back(controller.path());
  for (const auto& place : above) {
    const auto own = place / "switchyard" / (std::string(node) + "-" + id.substr(0, 8));
    for (const auto& group : std::filesystem::directory_iterator(own, ignored))
      if (group.is_directory(ignored)) ::rmdir(group.path().c_str());
    ::rmdir(own.c_str());
  }
}

std::string AgentProcess::mark(const std::string& attempt) const {
  std::string id;
  std::ifstream(spool() + "/spool_id") >> id;
  return "SWITCHYARD_ATTEMPT=" + attempt + "@" + node + "-" + id.substr(0, 8);
}

std::vector<pid_t> AgentProcess::processes_of(std::uint64_t job, std::uint32_t attempt) const {
  return supervisor::processes_with_environment(mark(std::to_string(job) + "." + std::to_string(attempt)));
}
