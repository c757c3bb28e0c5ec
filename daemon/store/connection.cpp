#include "daemon/store/connection.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/assert.hpp"

namespace sy::daemon {

namespace {

// What the administrator can do about it.
std::string advice(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL: return "the disk is full: free space on it";
    case SQLITE_READONLY: return "the file or its disk is read-only: make it writable for the user of switchyardd";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return "the file is damaged: put back a backup, and keep this file for its analysis";
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return "another process holds the file: end it first";
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN: return "the file can not be opened: check that its folder exists and belongs to the user of switchyardd";
    case SQLITE_IOERR: return "the disk reports an error: check it and the system's log";
    default: return "see the message of SQLite";
  }
}

}  // namespace

Statement::Statement(Connection& connection, std::string_view sql, bool lasting) : connection_(connection) {
  const int code = sqlite3_prepare_v3(connection.handle(), sql.data(), static_cast<int>(sql.size()),
                                      lasting ? SQLITE_PREPARE_PERSISTENT : 0U, &statement_, nullptr);
  if (code != SQLITE_OK) connection.fail(code, "reading its tables");
}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement& Statement::bind(std::int64_t value) {
  sqlite3_bind_int64(statement_, ++bound_, value);
  return *this;
}

Statement& Statement::bind(std::string_view text) {
  // A null pointer would bind NULL: an empty text is not that.
  sqlite3_bind_text64(statement_, ++bound_, text.data() != nullptr ? text.data() : "", text.size(), SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind(std::string&& text) {
  sqlite3_bind_text64(statement_, ++bound_, text.c_str(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind_blob(std::string_view bytes) {
  sqlite3_bind_blob64(statement_, ++bound_, bytes.data() != nullptr ? bytes.data() : "", bytes.size(), SQLITE_STATIC);
  return *this;
}

Statement& Statement::bind_null() {
  sqlite3_bind_null(statement_, ++bound_);
  return *this;
}

bool Statement::row() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  reset();
  if (code != SQLITE_DONE) connection_.fail(code, "reading or writing it");
  return false;
}

void Statement::run() {
  while (row()) {}
}

void Statement::reset() {
  sqlite3_reset(statement_);
  bound_ = 0;
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }

std::string_view Statement::text(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);  // texts too: their bytes as they are
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return data == nullptr ? std::string_view{} : std::string_view{static_cast<const char*>(data), size};
}

bool Statement::null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

Connection::Connection(const std::string& path, const std::string& vfs, Access access) : path_(path) {
  const int flags = (access == Access::write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX |
                    SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(path.c_str(), &handle_, flags, vfs.empty() ? nullptr : vfs.c_str());
  if (code != SQLITE_OK) {
    const std::string sentence = fmt::format("the store {} can not be used: {} ({})", path, advice(code), sqlite3_errstr(code));
    sqlite3_close_v2(handle_);
    throw StoreFailure(sentence);
  }
  sqlite3_busy_timeout(handle_, 5000);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_limit(handle_, SQLITE_LIMIT_ATTACHED, 0);
}

Connection::~Connection() {
  statements_.clear();
  sqlite3_close_v2(handle_);
}

Statement& Connection::prepared(std::string_view sql) {
  auto& slot = statements_[sql];
  if (slot == nullptr) slot = std::make_unique<Statement>(*this, sql, true);
  slot->reset();
  return *slot;
}

void Connection::script(const std::string& sql) {
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code, "preparing it");
}

std::int64_t Connection::pragma(const std::string& name) {
  Statement statement{*this, "PRAGMA " + name, false};
  return statement.row() ? statement.integer(0) : 0;
}

std::int64_t Connection::changes() const { return sqlite3_changes64(handle_); }

void Connection::fail(int code, std::string_view doing) const {
  throw StoreFailure(fmt::format("the store {} failed while {}: {} (SQLite says: {}, code {})", path_, doing, advice(code),
                                 sqlite3_errmsg(handle_), code));
}

Transaction::Transaction(Connection& connection, Kind kind) : connection_(connection) {
  connection.prepared(kind == Kind::write ? std::string_view{"BEGIN IMMEDIATE"} : std::string_view{"BEGIN"}).run();
}

Transaction::~Transaction() {
  // Some failures have rolled back already; then there is nothing left to undo.
  if (open_ && sqlite3_get_autocommit(connection_.handle()) == 0) sqlite3_exec(connection_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  ASSERT(open_, "a transaction commits once");
  connection_.prepared("COMMIT").run();
  open_ = false;
}

}  // namespace sy::daemon
