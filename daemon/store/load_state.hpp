// Reads the whole State from the entity tables, and single rows of history back into values.
// Not the derived parts: model::rebuild_derived makes those.
#pragma once

#include "base/result.hpp"
#include "daemon/store/connection.hpp"

namespace sy::daemon {

model::State load_state(Connection&);

// The value of a Result that the store itself wrote; a fault in it means that the file is damaged.
template <class T>
T trusted(base::Result<T> result, const Connection& db, std::string_view what) {
  if (result) return std::move(*result);
  throw StoreFailure("the store " + db.path() + " holds " + std::string{what} + " that can not be read: " + base::to_text(result.error()) +
                     "; put back a backup, and keep this file for its analysis");
}

}  // namespace sy::daemon
