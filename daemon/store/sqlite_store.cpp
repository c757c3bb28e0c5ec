#include "daemon/store/sqlite_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>

#include "daemon/store/load_state.hpp"
#include "daemon/store/look_up.hpp"
#include "daemon/store/migrations.hpp"
#include "daemon/store/write_batch.hpp"

namespace sy::daemon {

namespace {

// Refuses a file or folder that others may look into, or that is not ours.
void require_private(const std::string& path, bool folder) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) {
    if (!folder && errno == ENOENT) return;
    throw StoreFailure(fmt::format("{} can not be used: {}", path, std::strerror(errno)));
  }
  if (folder ? !S_ISDIR(info.st_mode) : !S_ISREG(info.st_mode))
    throw StoreFailure(fmt::format("{} is not a plain {}: name another", path, folder ? "folder" : "file"));
  if (info.st_uid != ::geteuid())
    throw StoreFailure(
        fmt::format("{} belongs to uid {}, not to uid {} which runs this: run it as that user", path, info.st_uid, ::geteuid()));
  if ((info.st_mode & 077U) != 0)
    throw StoreFailure(
        fmt::format("{} may be used by others (mode {:04o}): chmod {} {}", path, info.st_mode & 07777U, folder ? "0700" : "0600", path));
}

// One process at a time: two controllers on one store would each believe in their own state.
class FileLock {
 public:
  explicit FileLock(const std::string& path) : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
    if (fd_ < 0) throw StoreFailure(fmt::format("{} can not be made: {}", path, std::strerror(errno)));
    if (::flock(fd_, LOCK_EX | LOCK_NB) == 0) return;
    const int error = errno;
    ::close(fd_);
    throw StoreFailure(
        error == EWOULDBLOCK
            ? fmt::format("another process uses the store ({} is locked): end it first, or look at a copy of it (switchyardd --backup)",
                          path)
            : fmt::format("{} can not be locked: {}", path, std::strerror(error)));
  }
  ~FileLock() { ::close(fd_); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int fd_;
};

std::unique_ptr<FileLock> guard(const SqliteOptions& options) {
  if (!options.vfs.empty()) return nullptr;  // the path means something to that VFS only
  const std::filesystem::path path{options.path};
  require_private(path.parent_path().empty() ? "." : path.parent_path().string(), true);
  for (const char* suffix : {"", "-wal", "-shm", ".lock"}) require_private(options.path + suffix, false);
  auto lock = std::make_unique<FileLock>(options.path + ".lock");
  // SQLite gives its other files the mode of the first: make it before SQLite does.
  const int fd = ::open(options.path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) throw StoreFailure(fmt::format("the store {} can not be made: {}", options.path, std::strerror(errno)));
  ::close(fd);
  return lock;
}

class SqliteStore final : public Store {
 public:
  explicit SqliteStore(SqliteOptions options) : options_(std::move(options)), lock_(guard(options_)) { open(); }

  model::State load() override {
    if (broken_) open();
    model::State state = load_state(*writer_);
    sqlite3_db_release_memory(writer_->handle());  // the pages read for it: they would stay for as long as we run
    return state;
  }

  void commit(const Batch& batch) override {
    if (batch.empty()) return;
    if (broken_) throw StoreFailure("the last commit failed: load the state again first");
    try {
      Transaction transaction{*writer_, Transaction::Kind::write};
      write_batch(*writer_, batch);
      expire(batch);
      transaction.commit();
    } catch (...) {
      // What the disk holds of it now is not known: the next load opens the file afresh and takes what is there.
      broken_ = true;
      throw;
    }
  }

  std::optional<std::string> blob(std::string_view digest) override {
    const std::scoped_lock guarded{points_.mutex};
    return look_up_blob(reader(points_), digest);
  }
  std::optional<StoredReply> reply(std::string_view principal, std::string_view route, std::string_view key) override {
    const std::scoped_lock guarded{points_.mutex};
    return look_up_reply(reader(points_), principal, route, key);
  }
  std::vector<AccountingRow> accounting(const AccountingQuery& query) override {
    const std::scoped_lock guarded{scans_.mutex};
    return look_up_accounting(reader(scans_), query);
  }
  std::vector<core::Event> events(base::Sequence after, std::uint32_t limit) override {
    const std::scoped_lock guarded{scans_.mutex};
    return look_up_events(reader(scans_), after, limit);
  }

  void backup(const std::string& path) override;
  std::vector<std::string> check() override;
  std::vector<std::string> damage() override;

 private:
  // Its own connection for each kind of look-up, so that a long scan holds up neither commits nor single look-ups.
  struct Reader {
    std::mutex mutex;
    std::unique_ptr<Connection> connection;
  };

  void open() {
    writer_.reset();
    for (Reader* r : {&points_, &scans_}) {
      const std::scoped_lock guarded{r->mutex};
      r->connection.reset();
    }
    auto db = std::make_unique<Connection>(options_.path, options_.vfs, Connection::Access::write);
    // EXTRA while the file is made: a rollback journal whose deletion a power cut undoes would take the whole store back.
    db->script("PRAGMA synchronous = EXTRA; PRAGMA journal_mode = WAL");
    migrate(*db, all_migrations());
    db->script(options_.synchronous == SqliteOptions::Synchronous::full ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = OFF");
    db->script(
        "PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY; PRAGMA secure_delete = OFF; "
        "PRAGMA wal_autocheckpoint = 8000; PRAGMA journal_size_limit = 67108864");
    writer_ = std::move(db);
    broken_ = false;
  }

  Connection& reader(Reader& r) {
    if (r.connection == nullptr) {
      r.connection = std::make_unique<Connection>(options_.path, options_.vfs, Connection::Access::read);
      r.connection->script("PRAGMA query_only = ON; PRAGMA temp_store = MEMORY");
    }
    return *r.connection;
  }

  // About once a second, in step with how much comes in.
  void expire(const Batch& batch) {
    events_since_expiry_ += static_cast<std::int64_t>(batch.events.size());
    if (batch.events.empty() || (batch.now < expired_at_ + base::seconds{1} && batch.now >= expired_at_)) return;
    drop_expired(*writer_, {options_.keep_events, options_.keep_accounting}, batch.now, 500 + 2 * events_since_expiry_);
    expired_at_ = batch.now;
    events_since_expiry_ = 0;
  }

  SqliteOptions options_;
  std::unique_ptr<FileLock> lock_;
  std::unique_ptr<Connection> writer_;
  Reader points_, scans_;
  bool broken_{};
  base::Time expired_at_;
  std::int64_t events_since_expiry_{};
};

void SqliteStore::backup(const std::string& path) { backup_store(options_, path); }

namespace {

std::vector<std::string> faults_found_by(Connection& db, std::string_view pragma) {
  std::vector<std::string> faults;
  try {
    Statement check{db, pragma, false};
    while (check.row())
      if (check.text(0) != "ok") faults.emplace_back(check.text(0));
  } catch (const StoreFailure& failure) { faults.emplace_back(failure.what()); }  // some damage ends the look itself
  return faults;
}

}  // namespace

std::vector<std::string> SqliteStore::damage() {
  Connection db{options_.path, options_.vfs, Connection::Access::read};
  return faults_found_by(db, "PRAGMA quick_check(20)");
}

std::vector<std::string> SqliteStore::check() {
  Connection db{options_.path, options_.vfs, Connection::Access::read};
  std::vector<std::string> faults = faults_found_by(db, "PRAGMA integrity_check(20)");
  if (!faults.empty()) return faults;

  Statement blobs{db, "SELECT digest, bytes FROM blobs", false};
  while (blobs.row())
    if (blob_digest(blobs.text(1)) != blobs.text(0))
      faults.push_back(fmt::format("the blob {} has other bytes than its name says", blobs.text(0)));
  Statement uses{db,
                 "SELECT digest, uses, (SELECT count(*) FROM jobs WHERE script_digest = digest) + "
                 "(SELECT count(*) FROM jobs WHERE env_digest = digest) AS named FROM blobs WHERE uses <> named",
                 false};
  while (uses.row()) faults.push_back(fmt::format("the blob {} counts {} uses and has {}", uses.text(0), uses.integer(1), uses.integer(2)));
  const model::State state = load_state(db);
  Statement ahead{db, "SELECT count(*) FROM events WHERE sequence > ?", false};
  ahead.bind(static_cast<std::int64_t>(state.sequence.value));
  if (ahead.row() && ahead.integer(0) != 0)
    faults.push_back(fmt::format("{} events are newer than the state ({})", ahead.integer(0), state.sequence.value));
  for (auto& fault : model::check_invariants(state)) faults.push_back(std::move(fault));
  return faults;
}

}  // namespace

void backup_store(const SqliteOptions& options, const std::string& path) {
  const std::string partial = path + ".partial";
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    ::close(fd);
    throw StoreFailure(fmt::format("the backup {} exists already: name another file", path));
  }
  const int made = ::open(partial.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (made < 0) throw StoreFailure(fmt::format("the backup {} can not be made: {}", partial, std::strerror(errno)));
  ::close(made);
  {
    Connection from{options.path, options.vfs, Connection::Access::read};
    Connection to{partial, {}, Connection::Access::write};
    sqlite3_backup* copy = sqlite3_backup_init(to.handle(), "main", from.handle(), "main");
    if (copy == nullptr) to.fail(sqlite3_errcode(to.handle()), "copying it");
    int code = SQLITE_OK;
    do { code = sqlite3_backup_step(copy, 2048); } while (code == SQLITE_OK || code == SQLITE_BUSY || code == SQLITE_LOCKED);
    sqlite3_backup_finish(copy);
    if (code != SQLITE_DONE) to.fail(code, "copying it");
    to.script("PRAGMA journal_mode = DELETE");  // one file, nothing beside it
  }
  const int copy = ::open(partial.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = copy >= 0 && ::fsync(copy) == 0;
  if (copy >= 0) ::close(copy);
  if (!synced || ::rename(partial.c_str(), path.c_str()) != 0)
    throw StoreFailure(fmt::format("the backup {} can not be written: {}", path, std::strerror(errno)));
}

std::unique_ptr<Store> open_sqlite_store(SqliteOptions options) { return std::make_unique<SqliteStore>(std::move(options)); }

std::string blob_digest(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1)
    throw StoreFailure("sha256 is not available: check the installation of OpenSSL");
  std::string out;
  out.reserve(std::size_t{2} * size);
  for (unsigned i = 0; i < size; ++i) fmt::format_to(std::back_inserter(out), "{:02x}", digest.at(i));
  return out;
}

}  // namespace sy::daemon
