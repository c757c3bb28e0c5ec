#include "daemon/store/migrations.hpp"

#include <fmt/format.h>

#include "daemon/store/connection.hpp"

namespace sy::daemon {

namespace {
constexpr std::int64_t application_id = 0x53577964;  // "SWyd": file(1) and we know our own
}

void migrate(Connection& db, std::span<const Migration> migrations) {
  const std::int64_t newest = migrations.empty() ? 0 : migrations.back().number;
  const std::int64_t owner = db.pragma("application_id");
  const std::int64_t version = db.pragma("user_version");
  const bool fresh = owner == 0 && version == 0 && db.pragma("schema_version") == 0;
  if (!fresh && owner != application_id)
    throw StoreFailure(fmt::format("the file {} is a database of another program: name another file, or move it away", db.path()));
  if (version > newest)
    throw StoreFailure(
        fmt::format("the store {} was written by a newer release (format {}, this one knows up to {}): start that "
                    "release, or put back the backup from before the upgrade",
                    db.path(), version, newest));
  if (version == newest) return;
  Transaction transaction{db, Transaction::Kind::write};
  if (fresh) db.script(fmt::format("PRAGMA application_id = {}", application_id));
  for (const auto& step : migrations)
    if (step.number > version) db.script(std::string{step.sql});
  db.script(fmt::format("PRAGMA user_version = {}", newest));
  transaction.commit();
}

}  // namespace sy::daemon
