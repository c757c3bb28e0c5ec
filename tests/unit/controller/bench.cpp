#include "bench.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "support/catch.hpp"

namespace sy::daemon::testing {

model::State MemoryStore::load() {
  const std::lock_guard guard(lock_);
  if (broken_) throw StoreFailure("disk I/O error");
  model::State state;
  for (const core::Event& event : events_) core::evolve(state, event);
  return state;
}

void MemoryStore::commit(const Batch& batch) {
  std::unique_lock guard(lock_);
  waiting_ = true;
  gate_.wait(guard, [this] { return !closed_; });
  waiting_ = false;
  if (broken_) throw StoreFailure("database or disk is full");
  ++commits_;
  events_.insert(events_.end(), batch.events.begin(), batch.events.end());
  for (const Blob& b : batch.blobs) blobs_[b.digest] = b.bytes;
  for (const StoredReply& r : batch.replies) replies_[r.principal + "\n" + r.route + "\n" + r.key] = r;
  rows_.insert(rows_.end(), batch.ended.begin(), batch.ended.end());
}

std::optional<std::string> MemoryStore::blob(std::string_view digest) {
  const std::lock_guard guard(lock_);
  const auto at = blobs_.find(std::string(digest));
  return at != blobs_.end() ? std::optional(at->second) : std::nullopt;
}

std::optional<StoredReply> MemoryStore::reply(std::string_view principal, std::string_view route, std::string_view key) {
  const std::lock_guard guard(lock_);
  const auto at = replies_.find(std::string(principal) + "\n" + std::string(route) + "\n" + std::string(key));
  return at != replies_.end() ? std::optional(at->second) : std::nullopt;
}

std::vector<AccountingRow> MemoryStore::accounting(const AccountingQuery& query) {
  std::vector<AccountingRow> out;
  {
    const std::lock_guard guard(lock_);
    for (const AccountingRow& row : rows_)
      if (row.job.value > query.after_job && out.size() < query.limit) out.push_back(row);
  }
  if (after_accounting) after_accounting();
  return out;
}

void MemoryStore::close_gate() {
  const std::lock_guard guard(lock_);
  closed_ = true;
}
void MemoryStore::open_gate() {
  {
    const std::lock_guard guard(lock_);
    closed_ = false;
  }
  gate_.notify_all();
}
void MemoryStore::break_disk(bool broken) {
  const std::lock_guard guard(lock_);
  broken_ = broken;
}
std::size_t MemoryStore::commits() {
  const std::lock_guard guard(lock_);
  return commits_;
}
bool MemoryStore::commit_waits() {
  const std::lock_guard guard(lock_);
  return waiting_;
}

void NotedAgents::post(const model::Node& node, std::string target, std::string body, Done done) {
  sent.push_back({node.name, std::move(target), std::move(body)});
  base::Result<http::Response> answer = answers ? answers(sent.back()) : http::Response{200, "application/json", "{}", {}, false};
  waiting_.push_back([done = std::move(done), answer = std::move(answer)] { done(answer); });
  if (!answers_wait) this->answer();
}

void NotedAgents::answer() {
  for (auto& each : std::exchange(waiting_, {})) loop_.post(std::move(each));
}

std::size_t NotedAgents::count(const std::string& target) const {
  return static_cast<std::size_t>(std::count_if(sent.begin(), sent.end(), [&](const Sent& s) { return s.target == target; }));
}

namespace {
User known_user(base::Uid uid, base::Gid gid) {
  User user{uid, gid, "uid " + std::to_string(uid.value), {}, false, {gid}, {}};
  if (uid.value == Bench::root) user.name = "root";
  else if (uid.value == Bench::ann) user.name = "ann";
  else if (uid.value == Bench::bob) user.name = "bob";
  else return user;
  user.known = true;
  user.group = "users";
  user.group_names = {"users"};
  return user;
}
}  // namespace

Bench::Bench(std::function<void(wire::DaemonSettings&)> adjust, std::function<void(core::Configure&)> cluster) {
  wire::DaemonSettings settings;
  if (adjust) adjust(settings);
  Controller::Doors doors{store, agents, known_user, [this] { return clock; }, std::chrono::milliseconds{20}};
  controller = std::make_unique<Controller>(loop, std::move(doors), settings, key);
  api = std::make_unique<Api>(*controller);
  core::Configure configure;
  configure.settings.allow_root_jobs = true;
  for (const char* name : {"n1", "n2"}) {
    core::NodeDeclaration node;
    node.name = name;
    node.shape = model::NodeShape{};
    node.shape->cpus = 4;
    node.shape->sockets = 4;
    node.shape->memory = base::Mebibytes{4096};
    configure.nodes.push_back(node);
  }
  core::PartitionDeclaration partition;
  partition.settings.name = "main";
  partition.settings.is_default = true;
  partition.settings.all_nodes = true;
  partition.node_names = {"ALL"};
  configure.partitions.push_back(partition);
  if (cluster) cluster(configure);
  if (auto opened = controller->open(configure); !opened) throw std::runtime_error(base::to_text(opened.error()));
  turn_until([this] { return controller->ledger().committed() == controller->state().sequence; });
}

Bench::~Bench() {
  store.open_gate();
  api.reset();
  controller.reset();
}

Bench::GotPtr Bench::ask(std::uint32_t uid, const std::string& method, const std::string& target, const std::string& body,
                         std::vector<http::Header> headers) {
  auto got = std::make_shared<Got>();
  http::Request request{method, target, std::move(headers), body, {true, uid, uid, 1, {}}};
  api->handle(Listener::local, std::move(request), [got](http::Response response) {
    got->there = true;
    got->response = std::move(response);
  });
  return got;
}

Bench::GotPtr Bench::ask_agents(const std::string& method, const std::string& target, const std::string& body,
                                std::vector<http::Header> headers) {
  auto got = std::make_shared<Got>();
  http::Request request{method, target, std::move(headers), body, {false, ~0U, ~0U, 0, "127.0.0.1:5000"}};
  api->handle(Listener::agents, std::move(request), [got](http::Response response) {
    got->there = true;
    got->response = std::move(response);
  });
  return got;
}

Bench::GotPtr Bench::ask_as_node(const std::string& node, const std::string& method, const std::string& target, const std::string& body) {
  const SignatureHeaders s = sign_request(node_keys.at(node), node, {method, target, body, "controller"}, clock);
  return ask_agents(method, target, body,
                    {{std::string(header_key), s.key},
                     {std::string(header_time), s.time},
                     {std::string(header_nonce), s.nonce},
                     {std::string(header_signature), s.signature}});
}

http::Response Bench::now(const GotPtr& got) {
  turn_until([&] { return got->there; });
  return got->response;
}

void Bench::turn_until(const std::function<bool()>& done) {
  const Monotonic deadline = monotonic_now() + std::chrono::seconds{30};
  while (!done()) {
    if (monotonic_now() > deadline) throw std::runtime_error("it does not come");
    http::Timer timer(loop);
    timer.start(std::chrono::milliseconds{1}, [this] { loop.stop(); });
    loop.run();
  }
}

void Bench::turns(int count) {
  turn_until([&] { return count-- <= 0; });
}

std::string Bench::submission(const std::string& spec_members) {
  return R"({"spec":{"work_dir":"/tmp")" + (spec_members.empty() ? "" : "," + spec_members) +
         R"(},"script":"#!/bin/sh\ntrue\n","environment":["A=b"]})";
}

std::uint64_t Bench::submit(std::uint32_t uid, const std::string& spec_members) {
  const http::Response response = call(uid, "POST", "/v1/jobs", submission(spec_members));
  if (response.status != 201) throw std::runtime_error(response.body);
  return nlohmann::json::parse(response.body)["id"].get<std::uint64_t>();
}

void Bench::enrol(const std::string& node) {
  const http::Response issued = call(root, "POST", "/v1/nodes/" + node + "/enrol");
  if (issued.status != 200) throw std::runtime_error(issued.body);
  const std::string token = nlohmann::json::parse(issued.body)["token"].get<std::string>();
  node_keys.insert_or_assign(node, KeyPair::generate());
  const http::Response enrolled =
      now(ask_agents("POST", "/v1/agent/enrol", nlohmann::json{{"token", token}, {"public_key", node_keys.at(node).public_key()}}.dump()));
  if (enrolled.status != 200) throw std::runtime_error(enrolled.body);
}

void Bench::bring_up(const std::string& node) {
  enrol(node);
  const http::Response registered = now(ask_as_node(
      node, "POST", "/v1/agent/register",
      R"({"shape":{"cpus":4,"sockets":4,"memory_mib":4096},"boot_id":"b","spool_id":"s","version":"0.1.0","address":"127.0.0.1","port":1})"));
  if (registered.status != 200) throw std::runtime_error(registered.body);
}

void Bench::report(const std::string& node, std::uint64_t job, std::uint32_t attempt, const std::string& what, const std::string& exit) {
  nlohmann::json report{{"job", job}, {"attempt", attempt}, {"what", what}, {"at_us", base::micros(clock)}};
  if (!exit.empty()) report["exit"] = nlohmann::json::parse(exit);
  const http::Response answer = now(ask_as_node(node, "POST", "/v1/agent/reports", nlohmann::json{{"reports", {report}}}.dump()));
  if (answer.status != 200) throw std::runtime_error(answer.body);
}

}  // namespace sy::daemon::testing
