#include "daemon/agent/spool.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "daemon/runtime/crypto.hpp"
#include "daemon/runtime/private_folder.hpp"

namespace sy::daemon {

using base::Code;
using base::fail;
using supervisor::Folder;
namespace file = supervisor::file;

namespace {

constexpr const char* id_file = "spool_id";
constexpr const char* epoch_file = "epoch";
constexpr const char* lease_file = "lease";

base::Error disk_error(const std::string& what, int error) {
  const std::string hint = error == ENOSPC ? "make room on the disk that holds the spool" : "";
  return {Code::unavailable, what + ": " + std::strerror(error), "spool", {}, {}, hint};
}

template <class Record>
std::optional<Record> read_record(const Folder& f, const char* name, std::optional<Record> (*parse)(std::string_view)) {
  const auto text = f.read(name);
  return text ? parse(*text) : std::nullopt;
}

}  // namespace

std::optional<AttemptKey> parse_attempt_key(const std::string& name) {
  AttemptKey key;
  const auto dot = name.find('.');
  if (dot == std::string::npos) return std::nullopt;
  const char* end = name.data() + name.size();
  const auto job = std::from_chars(name.data(), name.data() + dot, key.job.value);
  const auto attempt = std::from_chars(name.data() + dot + 1, end, key.attempt.value);
  const bool whole = job.ec == std::errc{} && job.ptr == name.data() + dot && attempt.ec == std::errc{} && attempt.ptr == end;
  return whole && to_text(key) == name ? std::optional{key} : std::nullopt;
}

std::string to_text(AttemptKey k) { return std::to_string(k.job.value) + "." + std::to_string(k.attempt.value); }

Spool::Spool(std::string path, Folder root, Folder attempts, supervisor::Descriptor lock)
    : path_(std::move(path)), root_(std::move(root)), attempts_(std::move(attempts)), lock_(std::move(lock)) {}

base::Result<Spool> Spool::open(const std::string& path) {
  if (const auto made = ensure_private_folder(path); !made) return fail(made.error());
  Folder root = Folder::open(path);
  auto lock = root.lock("agent.lock");
  if (!lock) return fail(Code::conflict, "another agent uses this spool", "spool", path, "give each agent on a machine a spool of its own");
  Folder attempts = root.make("attempts");
  Spool out{path, std::move(root), std::move(attempts), std::move(lock)};
  if (const auto id = out.root_.read(id_file, 256); id && !id->empty()) {
    out.id_ = *id;
  } else {
    out.id_ = random_hex(16);
    if (const int error = out.root_.write(id_file, out.id_, true); error != 0)
      return fail(disk_error("the spool can not be written", error));
  }
  if (const auto epoch = out.root_.read(epoch_file, 256)) out.epoch_ = std::strtoull(epoch->c_str(), nullptr, 10);
  return out;
}

base::Result<void> Spool::remember_epoch(std::uint64_t epoch) {
  if (epoch <= epoch_) return {};
  if (const int error = root_.write(epoch_file, std::to_string(epoch), true); error != 0)
    return fail(disk_error("the controller's epoch could not be kept", error));
  epoch_ = epoch;
  return {};
}

std::vector<AttemptKey> Spool::attempts() const {
  std::vector<AttemptKey> out;
  for (const auto& name : attempts_.names()) {
    const auto key = parse_attempt_key(name);
    if (!key) continue;
    if (folder(*key).exists(file::launch)) out.push_back(*key);
    else drop(*key);
  }
  std::sort(out.begin(), out.end());
  return out;
}

Folder Spool::folder(AttemptKey key) const { return attempts_.sub(to_text(key)); }
std::string Spool::path(AttemptKey key) const { return path_ + "/attempts/" + to_text(key); }

std::optional<supervisor::LaunchRecord> Spool::launch(AttemptKey key) const {
  return read_record(folder(key), file::launch, supervisor::parse_launch);
}

AttemptFiles Spool::files(AttemptKey key) const {
  const Folder f = folder(key);
  AttemptFiles out;
  out.started = f.exists(file::started);
  out.end_asked = f.exists(file::end);
  // From the last to the first: what is written meanwhile is seen next time, and never an end without its exit.
  out.cleared = read_record(f, file::cleared, supervisor::parse_cleared);
  out.refused = read_record(f, file::refused, supervisor::parse_refused);
  out.exit = read_record(f, file::exit, supervisor::parse_exit);
  out.running = read_record(f, file::running, supervisor::parse_running);
  out.accepted = out.running || f.exists(file::accepted);
  return out;
}

base::Result<void> Spool::make(AttemptKey key, const supervisor::LaunchRecord& record, const std::string* script, const char* mark,
                               const std::string& mark_text) const {
  const std::string name = to_text(key);
  if (::mkdirat(attempts_.fd(), name.c_str(), 0700) != 0) return fail(disk_error("the attempt could not be noted", errno));
  const Folder f = folder(key);
  int error = script != nullptr ? f.write(file::script, *script, false, 0555) : 0;
  if (error == 0 && mark != nullptr) error = f.write(mark, mark_text, false);
  if (error == 0) error = f.write(file::launch, supervisor::to_text(record), true);
  if (error == 0) error = attempts_.sync();
  if (error == 0) return {};
  drop(key);
  return fail(disk_error("the attempt could not be noted", error));
}

base::Result<void> Spool::create(AttemptKey key, const supervisor::LaunchRecord& record, const std::string& script) const {
  return make(key, record, record.lead ? &script : nullptr, nullptr, {});
}

base::Result<void> Spool::create_tombstone(AttemptKey key, const supervisor::LaunchRecord& record,
                                           const std::optional<supervisor::RefusedRecord>& refused, std::int64_t now_us) const {
  if (refused) return make(key, record, nullptr, file::refused, supervisor::to_text(*refused));
  return make(key, record, nullptr, file::cleared, supervisor::to_text(supervisor::ClearedRecord{{}, now_us}));
}

// The launch record first: a folder without it is only rubbish. One that still had it and not its marks any more, because we were
// killed in between, would be taken for an attempt that was never started.
void Spool::drop(AttemptKey key) const {
  const std::string name = to_text(key);
  {
    const Folder f = folder(key);
    f.remove(file::launch);
    for (const auto& each : f.names()) f.remove(each.c_str());
  }
  ::unlinkat(attempts_.fd(), name.c_str(), AT_REMOVEDIR);
}

void Spool::write_lease(std::optional<std::int64_t> until_us) const {
  if (until_us) root_.write(lease_file, std::to_string(*until_us), false);
  else root_.remove(lease_file);
}

}  // namespace sy::daemon
