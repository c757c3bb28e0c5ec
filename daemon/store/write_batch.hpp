// Writes one Batch inside an open transaction: rows, blobs, events, accounting, replies; and drops what has expired.
// Not the transaction itself, and not which rows changed: Batch::add found those.
#pragma once

#include "daemon/store/connection.hpp"

namespace sy::daemon {

void write_batch(Connection&, const Batch&);

struct Retention {
  base::Duration events;
  std::optional<base::Duration> accounting;
};
// Deletes at most about `most` of the oldest rows of each kind, so that no commit is held up for long.
void drop_expired(Connection&, const Retention&, base::Time now, std::int64_t most);

}  // namespace sy::daemon
