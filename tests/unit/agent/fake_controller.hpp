// A controller that says what a test wants and remembers what the agent reported; and a real agent process to talk to.
// Not switchyardd: it schedules nothing and forgets everything.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "daemon/runtime/signing.hpp"
#include "http/loop.hpp"
#include "http/server.hpp"
#include "wire/agent_messages.hpp"

class FakeController {
 public:
  FakeController();
  ~FakeController();

  std::string token(const std::string& node) const;  // NAME.SECRET.FINGERPRINT
  std::uint16_t port() const { return port_; }

  // What the agent said.
  std::vector<sy::wire::AttemptReport> reports() const;      // acknowledged or not, as they came, without repetitions
  std::optional<sy::wire::AttemptReport> report(std::uint64_t job, sy::core::ReportAttempt::What) const;
  sy::wire::AttemptReport wait_for(std::uint64_t job, sy::core::ReportAttempt::What) const;
  int received(std::uint64_t job, sy::core::ReportAttempt::What) const;  // repetitions counted
  std::optional<sy::wire::RegisterMessage> registration() const;
  int registrations() const;

  // What it answers.
  void acknowledge(bool on);
  void set_fenced(std::vector<sy::wire::AttemptName>);
  void set_epoch(std::uint64_t);
  void set_lease(std::optional<sy::base::Duration>);
  void set_deaf(bool on);                                    // answers 503 to everything, though it notes registrations

  // Sends to the agent as the controller (or as `signer`). Returns status and body.
  struct Sent {
    int status{};
    std::string body;
  };
  template <class Message>
  Sent post(const std::string& target, const Message& m) const {
    return send(sign("POST", target, sy::wire::message_text(m)));
  }
  sy::http::Request sign(const std::string& method, const std::string& target, std::string body,
                         const sy::daemon::KeyPair* signer = nullptr) const;
  Sent send(const sy::http::Request&) const;
  sy::wire::LaunchMessage launch(std::uint64_t job, const std::string& script, const std::string& work_dir) const;
  template <class Message>
  Message about(std::uint64_t job, std::uint32_t attempt = 1) const {
    Message m;
    fill(m, job, attempt);
    return m;
  }

 private:
  void fill(sy::wire::Capability&, std::uint64_t job, std::uint32_t attempt) const;
  sy::http::Response answer(const sy::http::Request&);
  sy::http::Response take_reports(const std::string& body);

  sy::daemon::KeyPair key_ = sy::daemon::KeyPair::generate();
  std::string secret_ = sy::daemon::random_hex(16);
  mutable std::mutex lock_;
  std::string node_, node_key_;
  sy::daemon::NonceCache nonces_;
  std::vector<sy::wire::AttemptReport> reports_;
  std::optional<sy::wire::RegisterMessage> registration_;
  int registrations_{};
  bool acknowledge_{true}, deaf_{};
  std::uint64_t epoch_{5};
  std::optional<sy::base::Duration> lease_;
  std::vector<sy::wire::AttemptName> fenced_;
  sy::http::Loop loop_;
  std::unique_ptr<sy::http::Server> server_;
  std::uint16_t port_{};
  std::thread thread_;
};

class AgentProcess {
 public:
  explicit AgentProcess(FakeController&, const std::string& extra_settings = "");
  ~AgentProcess();
  AgentProcess(const AgentProcess&) = delete;
  AgentProcess& operator=(const AgentProcess&) = delete;

  int enrol(const std::string& token);        // exit code
  void start();                               // enrols first where needed; waits until it has registered
  void start_unregistered();                  // under a deaf controller: waits until it was turned away
  void kill();                                // -9
  int stop();                                 // SIGTERM; its exit code
  std::string log() const;
  std::string output(const std::string& name = "out.txt") const;
  std::string spool() const { return root + "/spool"; }
  pid_t supervisor_of(std::uint64_t job) const;
  std::vector<pid_t> processes_of(std::uint64_t job, std::uint32_t attempt = 1) const;

  std::string root, work_dir;

 private:
  void start_until(const std::string& words_in_log);
  void remove_groups() const;
  std::string mark(const std::string& attempt) const;  // in the environment of its processes
  pid_t spawn(const std::vector<std::string>& words, const std::string& input) const;
  FakeController& controller_;
  pid_t pid_{};
  bool enrolled_{};
};

void wait_until(const std::string& what, const std::function<bool()>& is_true);
