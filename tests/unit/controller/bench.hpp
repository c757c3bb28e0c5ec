// A controller on a workbench: real core, loop and API; a store in memory whose disk can be slow or broken; agents that note
// what they are sent. No sockets. Not a simulator.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "daemon/api/api.hpp"
#include "daemon/controller/controller.hpp"

namespace sy::daemon::testing {

// Keeps the events and replays them. While the gate is closed a commit waits; while broken it fails.
class MemoryStore final : public Store {
 public:
  model::State load() override;
  void commit(const Batch&) override;
  std::optional<std::string> blob(std::string_view digest) override;
  std::optional<StoredReply> reply(std::string_view principal, std::string_view route, std::string_view key) override;
  std::vector<AccountingRow> accounting(const AccountingQuery&) override;
  std::vector<core::Event> events(base::Sequence, std::uint32_t) override { return {}; }
  void backup(const std::string&) override {}
  std::vector<std::string> check() override { return {}; }
  std::vector<std::string> damage() override { return {}; }

  void close_gate();
  void open_gate();
  void break_disk(bool broken);
  std::size_t commits();
  bool commit_waits();
  std::function<void()> after_accounting;  // called by the reading thread with the rows in hand, not under any lock

 private:
  std::mutex lock_;
  std::condition_variable gate_;
  bool closed_{}, broken_{}, waiting_{};
  std::size_t commits_{};
  std::vector<core::Event> events_;
  std::map<std::string, std::string> blobs_;
  std::map<std::string, StoredReply> replies_;
  std::vector<AccountingRow> rows_;
};

class NotedAgents final : public AgentLink {
 public:
  struct Sent {
    std::string node, target, body;
  };
  std::vector<Sent> sent;
  std::function<base::Result<http::Response>(const Sent&)> answers;   // default: 200 {}
  bool answers_wait{};                                                // until answer() is called
  void answer();
  explicit NotedAgents(http::Loop& loop) : loop_(loop) {}
  void post(const model::Node&, std::string target, std::string body, Done) override;
  std::size_t count(const std::string& target) const;

 private:
  http::Loop& loop_;
  std::vector<std::function<void()>> waiting_;
};

struct Got {                       // an answer, when it has come
  bool there{};
  http::Response response;
};

class Bench {
 public:
  explicit Bench(std::function<void(wire::DaemonSettings&)> adjust = {}, std::function<void(core::Configure&)> cluster = {});
  ~Bench();

  using GotPtr = std::shared_ptr<Got>;
  static constexpr std::uint32_t root = 0, ann = 1000, bob = 1001;
  // Asks as that uid on the unix socket; the answer comes while the loop turns.
  GotPtr ask(std::uint32_t uid, const std::string& method, const std::string& target, const std::string& body = {},
             std::vector<http::Header> headers = {});
  GotPtr ask_agents(const std::string& method, const std::string& target, const std::string& body, std::vector<http::Header> headers = {});
  // Signed by that node's key.
  GotPtr ask_as_node(const std::string& node, const std::string& method, const std::string& target, const std::string& body);
  http::Response now(const GotPtr&);               // turns the loop until it is there
  http::Response call(std::uint32_t uid, const std::string& method, const std::string& target, const std::string& body = {},
                      std::vector<http::Header> headers = {}) {
    return now(ask(uid, method, target, body, std::move(headers)));
  }
  std::uint64_t submit(std::uint32_t uid = ann, const std::string& spec_members = {});
  void turn_until(const std::function<bool()>&);   // fails the test after 30 s
  void turns(int count);                           // so many turns of the loop, and whatever is ready in them

  void enrol(const std::string& node);             // with a key of its own
  void bring_up(const std::string& node);          // enrolled and registered
  void report(const std::string& node, std::uint64_t job, std::uint32_t attempt, const std::string& what, const std::string& exit = {});

  http::Loop loop;
  MemoryStore store;
  NotedAgents agents{loop};
  KeyPair key{KeyPair::generate()};
  std::map<std::string, KeyPair> node_keys;
  base::Time clock{base::time_from_seconds(1'700'000'000)};
  std::unique_ptr<Controller> controller;
  std::unique_ptr<Api> api;

  static std::string submission(const std::string& spec_members = {});
};

}  // namespace sy::daemon::testing
