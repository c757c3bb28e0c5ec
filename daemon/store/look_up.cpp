#include "daemon/store/look_up.hpp"

#include "daemon/store/load_state.hpp"
#include "wire/event_json.hpp"
#include "wire/json_text.hpp"
#include "wire/state_json.hpp"

namespace sy::daemon {

std::optional<std::string> look_up_blob(Connection& db, std::string_view digest) {
  auto& found = db.prepared("SELECT bytes FROM blobs WHERE digest = ?").bind(digest);
  std::optional<std::string> bytes;
  if (found.row()) bytes.emplace(found.text(0));
  found.reset();
  return bytes;
}

std::optional<StoredReply> look_up_reply(Connection& db, std::string_view principal, std::string_view route, std::string_view key) {
  auto& found = db.prepared(
                      "SELECT request_digest, status, body, expires_us FROM replies "
                      "WHERE principal = ? AND route = ? AND key = ?")
                    .bind(principal)
                    .bind(route)
                    .bind(key);
  std::optional<StoredReply> reply;
  if (found.row()) {
    reply.emplace();
    reply->principal = principal;
    reply->route = route;
    reply->key = key;
    reply->request_digest = found.text(0);
    reply->status = static_cast<int>(found.integer(1));
    reply->body = found.text(2);
    reply->expires = base::time_from_micros(found.integer(3));
  }
  found.reset();
  return reply;
}

std::vector<core::Event> look_up_events(Connection& db, base::Sequence after, std::uint32_t limit) {
  auto& rows = db.prepared("SELECT sequence, at_us, who, kind, version, fact FROM events WHERE sequence > ? ORDER BY sequence LIMIT ?")
                   .bind(static_cast<std::int64_t>(after.value))
                   .bind(std::int64_t{limit});
  std::vector<core::Event> events;
  while (rows.row()) {
    core::Event event;
    event.sequence = base::Sequence{static_cast<std::uint64_t>(rows.integer(0))};
    event.at = base::time_from_micros(rows.integer(1));
    event.by = rows.text(2);
    event.fact = trusted(wire::fact_from_text(rows.text(3), static_cast<int>(rows.integer(4)), rows.text(5)), db, "an event");
    events.push_back(std::move(event));
  }
  return events;
}

namespace {

// One condition of an accounting query: its text is ours, its values are bound.
struct Condition {
  std::string sql;
  std::string text;                    // a word, or a JSON list for json_each; when no number
  std::optional<std::int64_t> number;
};

std::string json_list(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const auto& text : texts) {
    if (out.size() > 1) out += ',';
    wire::append_quoted(out, text);
  }
  return out + ']';
}

std::vector<Condition> conditions(const AccountingQuery& query) {
  std::vector<Condition> all;
  all.push_back({"job > ?", {}, static_cast<std::int64_t>(query.after_job)});
  if (!query.jobs.empty()) {
    std::string ids = "[";
    for (const auto id : query.jobs) {
      if (ids.size() > 1) ids += ',';
      wire::append_unsigned(ids, id.value);
    }
    all.push_back({"job IN (SELECT value FROM json_each(?))", ids + ']', {}});
  }
  const auto any_of = [&](const char* sql, const std::vector<std::string>& texts) {
    if (!texts.empty()) all.push_back({sql, json_list(texts), {}});
  };
  // One user's rows lie in the order of jobs in an index; those of several are picked out of all, in that order (the plus keeps
  // the index out), so that no page has to sort a whole history.
  if (query.users.size() == 1) all.push_back({"user = ?", query.users.front(), {}});
  else any_of("+user IN (SELECT value FROM json_each(?))", query.users);
  any_of("outcome IN (SELECT value FROM json_each(?))", query.outcomes);
  any_of("partition IN (SELECT value FROM json_each(?))", query.partitions);
  any_of("name IN (SELECT value FROM json_each(?))", query.names);
  any_of("account IN (SELECT value FROM json_each(?))", query.accounts);
  any_of(
      "EXISTS (SELECT 1 FROM accounting_nodes n WHERE n.job = a.job AND n.attempt = a.attempt AND n.node IN "
      "(SELECT id FROM nodes WHERE name IN (SELECT value FROM json_each(?))))",
      query.nodes);
  if (query.since) all.push_back({"ended_us >= ?", {}, base::micros(*query.since)});
  if (query.until) all.push_back({"submitted_us <= ?", {}, base::micros(*query.until)});
  return all;
}

}  // namespace

std::vector<AccountingRow> look_up_accounting(Connection& db, const AccountingQuery& query) {
  const auto where = conditions(query);
  std::string sql = "SELECT job, attempt, record FROM accounting a WHERE ";
  for (const auto& condition : where) sql += condition.sql + " AND ";
  sql += query.duplicates ? "1" : "NOT EXISTS (SELECT 1 FROM accounting b WHERE b.job = a.job AND b.id > a.id)";
  sql += " ORDER BY job, id";

  Statement rows{db, sql, false};
  for (const auto& condition : where) {
    if (condition.number) rows.bind(*condition.number);
    else rows.bind(condition.text);
  }
  std::vector<AccountingRow> found;
  while (rows.row()) {
    const base::JobId job{static_cast<std::uint64_t>(rows.integer(0))};
    if (found.size() >= query.limit && found.back().job != job) break;
    found.push_back({job, base::AttemptNumber{static_cast<std::uint32_t>(rows.integer(1))},
                     trusted(wire::job_from_text(rows.text(2)), db, "a record of accounting")});
  }
  return found;
}

}  // namespace sy::daemon
