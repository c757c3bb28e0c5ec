// SQLite's connection and prepared statement as two small owners. Every failure becomes a StoreFailure with a sentence.
// No SQL is put together from values here or anywhere: values are bound.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/store/store.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace sy::daemon {

class Connection;

// Bound from 1 on, in order. Texts and blobs must live until the statement has run; a text that is handed over is copied.
class Statement {
 public:
  Statement(Connection&, std::string_view sql, bool lasting);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(std::int64_t);
  Statement& bind(std::string_view text);
  Statement& bind(const std::string& text) { return bind(std::string_view{text}); }
  Statement& bind(const char* text) { return bind(std::string_view{text}); }
  Statement& bind(std::string&& text);
  Statement& bind_blob(std::string_view bytes);
  Statement& bind_null();
  template <class T>
  Statement& bind_optional(const std::optional<T>& value) {
    return value ? bind(*value) : bind_null();
  }

  bool row();          // the next row, or false at the end (and reset)
  void run();          // to the end, then reset
  void reset();

  std::int64_t integer(int column) const;
  std::string_view text(int column) const;   // valid until the next row or reset
  bool null(int column) const;

 private:
  Connection& connection_;
  sqlite3_stmt* statement_{};
  int bound_{};
};

class Connection {
 public:
  enum class Access : unsigned char { read, write };
  Connection(const std::string& path, const std::string& vfs, Access);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Prepared once for each text, reset and ready to bind. `sql` must be a literal or outlive the connection.
  Statement& prepared(std::string_view sql);
  // Several statements of ours at once: migrations and pragmas.
  void script(const std::string& sql);
  std::int64_t pragma(const std::string& name);   // "user_version"

  std::int64_t changes() const;
  sqlite3* handle() const { return handle_; }
  const std::string& path() const { return path_; }
  [[noreturn]] void fail(int code, std::string_view doing) const;

 private:
  std::string path_;
  sqlite3* handle_{};
  std::map<std::string_view, std::unique_ptr<Statement>> statements_;
};

// BEGIN … COMMIT; rolls back when it goes without commit().
class Transaction {
 public:
  enum class Kind : unsigned char { read, write };
  Transaction(Connection&, Kind);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Connection& connection_;
  bool open_{true};
};

}  // namespace sy::daemon
