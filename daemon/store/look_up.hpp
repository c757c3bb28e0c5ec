// Look-ups of what State does not hold: blobs, kept answers, old events, ended attempts. Reads only.
#pragma once

#include "daemon/store/connection.hpp"

namespace sy::daemon {

std::optional<std::string> look_up_blob(Connection&, std::string_view digest);
std::optional<StoredReply> look_up_reply(Connection&, std::string_view principal, std::string_view route, std::string_view key);
std::vector<core::Event> look_up_events(Connection&, base::Sequence after, std::uint32_t limit);
std::vector<AccountingRow> look_up_accounting(Connection&, const AccountingQuery&);

}  // namespace sy::daemon
