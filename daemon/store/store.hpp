// The narrow door to what is kept: load everything, commit a batch, look up what State does not hold (blobs, idempotency
// keys, accounting, old events). SQLite stands behind it; nothing above may assume so.
#pragma once

#include <cstdint>
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

struct Blob { std::string digest; std::string bytes; };        // sha256 hex of bytes
struct StoredReply {                                           // D2: kept 24 h
  std::string principal, route, key, request_digest;
  int status{};
  std::string body;
  base::Time expires;
};

// One transaction. Built on the core thread from events and the State after them; `commit` may run on another thread, so it
// holds values only.
struct Batch;

struct AccountingRow {                                         // one ended attempt
  base::JobId job;
  base::AttemptNumber attempt;
  model::Job at_end;                                           // spec, user, attempt with nodes and exit, outcome
};
struct AccountingQuery {
  std::vector<base::JobId> jobs;
  std::vector<std::string> users, states, partitions, names, nodes, accounts;
  std::optional<base::Time> since, until;                      // jobs that were in any state in between
  bool duplicates{};                                           // -D: earlier attempts too
  std::uint64_t after_job{};                                   // keyset page
  std::uint32_t limit{1000};
};

class Store {
 public:
  virtual ~Store() = default;
  // Throws StoreFailure with a clear sentence for a damaged or newer file.
  virtual model::State load() = 0;
  virtual void commit(const Batch&) = 0;
  virtual std::optional<std::string> blob(std::string_view digest) = 0;
  virtual std::optional<StoredReply> reply(std::string_view principal, std::string_view route, std::string_view key) = 0;
  virtual std::vector<AccountingRow> accounting(const AccountingQuery&) = 0;
  virtual std::vector<core::Event> events(base::Sequence after, std::uint32_t limit) = 0;
  virtual void backup(const std::string& path) = 0;            // SQLite's online copy
  virtual std::vector<std::string> check() = 0;                // integrity faults; empty: fine
};

}  // namespace sy::daemon
