// The agent's memory on disk: which attempts it has seen, the controller's highest epoch, and who it is (spool id). Survives
// kill -9 and power cuts. Not the running of anything: supervisors write their part into the same folders.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/id.hpp"
#include "base/result.hpp"
#include "daemon/supervisor/folder.hpp"
#include "daemon/supervisor/records.hpp"

namespace sy::daemon {

struct AttemptKey {
  base::JobId job;
  base::AttemptNumber attempt;
  auto operator<=>(const AttemptKey&) const = default;
};
std::string to_text(AttemptKey);  // "12.1", also the folder's name
std::optional<AttemptKey> parse_attempt_key(const std::string&);

// What the files of one attempt say.
struct AttemptFiles {
  bool started{}, accepted{}, end_asked{};
  std::optional<supervisor::RunningRecord> running;
  std::optional<supervisor::ExitInfo> exit;
  std::optional<supervisor::RefusedRecord> refused;
  std::optional<supervisor::ClearedRecord> cleared;
  bool over() const { return refused || cleared; }
};

class Spool {
 public:
  // Makes it (0700), refuses a laxer one and one that another agent uses. A new spool gets a new id.
  static base::Result<Spool> open(const std::string& path);

  const std::string& id() const { return id_; }
  std::uint64_t epoch() const { return epoch_; }
  // Durable before it returns; a lower one changes nothing.
  base::Result<void> remember_epoch(std::uint64_t);

  // Removes what was never finished being made; the rest in order.
  std::vector<AttemptKey> attempts() const;
  std::optional<supervisor::LaunchRecord> launch(AttemptKey) const;
  AttemptFiles files(AttemptKey) const;
  supervisor::Folder folder(AttemptKey) const;   // throws std::system_error
  std::string path(AttemptKey) const;

  // Durable before it returns. Nothing is left of one that fails.
  base::Result<void> create(AttemptKey, const supervisor::LaunchRecord&, const std::string& script) const;
  // For an attempt that never was here and must never be: launches of it are refused from now on.
  base::Result<void> create_tombstone(AttemptKey, const supervisor::LaunchRecord&, const std::optional<supervisor::RefusedRecord>&,
                                      std::int64_t now_us) const;
  void drop(AttemptKey) const;
  // When the lease of this node ends, on the boot clock, for the supervisors; nullopt: no lease.
  void write_lease(std::optional<std::int64_t> until_us) const;
  const supervisor::Folder& root() const { return root_; }

 private:
  Spool(std::string path, supervisor::Folder root, supervisor::Folder attempts, supervisor::Descriptor lock);
  base::Result<void> make(AttemptKey, const supervisor::LaunchRecord&, const std::string* script, const char* mark,
                          const std::string& mark_text) const;
  std::string path_;
  supervisor::Folder root_, attempts_;
  supervisor::Descriptor lock_;
  std::string id_;
  std::uint64_t epoch_{};
};

}  // namespace sy::daemon
