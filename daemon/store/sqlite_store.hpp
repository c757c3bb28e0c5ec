// The embedded store: one SQLite file (WAL, synchronous=FULL) in a folder that nobody else may enter.
// Not the contract (store.hpp): what is above the door uses that.
#pragma once

#include <memory>
#include <string>

#include "daemon/store/store.hpp"

namespace sy::daemon {

struct SqliteOptions {
  std::string path{};                                          // the file; its folder must exist with mode 0700
  base::Duration keep_events{std::chrono::hours{24 * 7}};
  std::optional<base::Duration> keep_accounting{};              // absent: for ever
  std::string vfs{};                                           // a registered SQLite VFS; empty: the machine's
  enum class Synchronous : unsigned char { full, off } synchronous{Synchronous::full};  // off: tests only
};

// Opens or makes the file, and brings an older one up to this release. Throws StoreFailure for a damaged or newer file, one
// that is not ours, or modes laxer than 0600 and 0700.
std::unique_ptr<Store> open_sqlite_store(SqliteOptions);

// A whole copy of the store in a new file of mode 0600, while a controller uses it or not. Throws StoreFailure.
void backup_store(const SqliteOptions&, const std::string& path);

// sha256 as 64 hex digits: the key of a Blob.
std::string blob_digest(std::string_view bytes);

}  // namespace sy::daemon
