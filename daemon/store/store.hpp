// The narrow door to what is kept: load everything, commit a batch, look up what State does not hold (blobs, idempotency
// keys, accounting, old events). SQLite stands behind it; nothing above may assume so.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/event.hpp"
#include "model/state.hpp"

namespace sy::daemon {

// The disk said no (full, read-only, I/O error, damaged). Nothing of the batch was kept.
struct StoreFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Blob {
  std::string digest;
  std::string bytes;
};        // sha256 hex of bytes
struct StoredReply {                                           // D2: kept 24 h
  std::string principal, route, key, request_digest;
  int status{};
  std::string body;
  base::Time expires;
};

struct AccountingRow {                                         // one ended attempt, or a job that ended while it waited
  base::JobId job;
  base::AttemptNumber attempt;                                 // 0 where the job ended while it waited
  model::Job at_end;                                           // spec, user, attempt with nodes and exit, outcome, ended
};
struct AccountingQuery {
  std::vector<base::JobId> jobs{};
  std::vector<std::string> users{}, outcomes{}, partitions{}, names{}, nodes{}, accounts{};  // any of each; outcomes by our names
  std::optional<base::Time> since{}, until{};                   // jobs that were in any state in between
  bool duplicates{};                                           // -D: earlier attempts too; otherwise the last of each job
  std::uint64_t after_job{};                                   // keyset page: jobs above this id
  std::uint32_t limit{1000};                                   // rows; the last job's attempts are completed
};

// One transaction, as values only: built on the core thread, committed on another. Several steps share one (group
// commit): call add after each step, with the State as that step left it, and the row of each thing changed is kept once.
struct Batch {
  struct ChangedJob {
    std::optional<model::Job> job;   // absent: forgotten
    bool submitted{};                // new in this batch
    bool spec_changed{};             // otherwise the stored spec stands
  };

  void add(const model::State& after, const std::vector<core::Event>& events);

  bool empty() const { return events.empty() && replies.empty(); }

  std::vector<core::Event> events;                             // ascending
  std::map<base::JobId, ChangedJob> jobs;
  std::map<base::NodeIndex, model::Node> nodes;                // without what is derived
  std::optional<model::Settings> settings;
  std::optional<std::vector<model::Partition>> partitions;
  std::map<std::string, model::Topology> topologies;
  std::optional<std::vector<model::EnrolToken>> enrol_tokens;
  std::vector<AccountingRow> ended;
  // Counters after the last step.
  base::Sequence sequence;
  base::JobId next_job_id;
  std::uint64_t epoch{}, policy_version{};
  base::Time now;                                              // of the last event: what has expired is dropped by it

  // Added by whoever answers the request. Blobs that no submitted job of the batch names are not kept.
  std::vector<Blob> blobs;
  std::vector<StoredReply> replies;
};

Batch make_batch(const model::State& after, const std::vector<core::Event>& events);

class Store {
 public:
  virtual ~Store() = default;
  // Everything below throws StoreFailure with a sentence for the administrator. commit and load belong to one thread at a
  // time; the look-ups may run on another meanwhile and see what is committed.
  virtual model::State load() = 0;
  virtual void commit(const Batch&) = 0;                       // durable when it returns; nothing of it kept when it throws
  virtual std::optional<std::string> blob(std::string_view digest) = 0;
  virtual std::optional<StoredReply> reply(std::string_view principal, std::string_view route,
                                           std::string_view key) = 0;  // also past its expiry, until it is dropped
  virtual std::vector<AccountingRow> accounting(const AccountingQuery&) = 0;
  virtual std::vector<core::Event> events(base::Sequence after, std::uint32_t limit) = 0;
  virtual void backup(const std::string& path) = 0;            // SQLite's online copy
  virtual std::vector<std::string> check() = 0;                // integrity faults; empty: fine
  virtual std::vector<std::string> damage() = 0;               // of these those that show in the file's pages alone; reads all of them
};

}  // namespace sy::daemon
