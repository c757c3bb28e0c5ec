// The numbered steps from an empty file to this release's tables (schema/sql), and taking them.
// Not how rows are written: that is the store's.
#pragma once

#include <span>
#include <string_view>

namespace sy::daemon {

class Connection;

struct Migration {
  int number{};
  std::string_view name;
  std::string_view sql;
};

std::span<const Migration> all_migrations();

// Takes the steps that are missing, all in one transaction. Throws StoreFailure for a file of another program or of a newer
// release, and touches neither.
void migrate(Connection&, std::span<const Migration>);

}  // namespace sy::daemon
