#include "support/power_cut_vfs.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

namespace sy::test {

namespace {

constexpr std::size_t sector = 512;

struct Change {          // a write of bytes at an offset, or a truncation to it
  std::size_t offset{};
  std::vector<char> bytes;
  bool truncate{};
};

void put_change(std::vector<char>& content, const Change& change) {
  if (change.truncate) {
    if (change.offset < content.size()) content.resize(change.offset);
    return;
  }
  if (content.size() < change.offset + change.bytes.size()) content.resize(change.offset + change.bytes.size());
  std::copy(change.bytes.begin(), change.bytes.end(), content.begin() + static_cast<std::ptrdiff_t>(change.offset));
}

struct Handle;

struct File {
  std::vector<char> now, synced;
  bool name_synced{};
  std::vector<Change> unsynced;
  std::vector<Handle*> handles;
  std::vector<std::unique_ptr<std::array<char, 32768>>> shared;   // the WAL index
  std::array<int, SQLITE_SHM_NLOCK> readers{};
  std::array<bool, SQLITE_SHM_NLOCK> writer{};
};

struct Handle {
  sqlite3_file base;     // first: SQLite sees only this
  PowerCutDisk::Impl* disk;
  std::shared_ptr<File>* file;
  std::string* name;
  std::uint64_t* generation;
  int lock;
  unsigned shm_shared, shm_exclusive;
  bool delete_on_close;
};

}  // namespace

struct PowerCutDisk::Impl {
  mutable std::recursive_mutex mutex;
  std::map<std::string, std::shared_ptr<File>> files;
  std::vector<std::pair<std::string, std::shared_ptr<File>>> deleted;   // the deletion is not synced
  std::optional<std::size_t> capacity;
  bool fail_syncs{};
  std::uint64_t generation{1}, syncs{};
  sqlite3_vfs vfs{};
  sqlite3_vfs* host{};
};

namespace {

using Lock = std::scoped_lock<std::recursive_mutex>;
Handle& of(sqlite3_file* file) { return *reinterpret_cast<Handle*>(file); }
PowerCutDisk::Impl& of(sqlite3_vfs* vfs) { return *static_cast<PowerCutDisk::Impl*>(vfs->pAppData); }
bool dead(const Handle& h) { return *h.generation != h.disk->generation; }

int do_close(sqlite3_file* f) {
  Handle& h = of(f);
  const Lock guard{h.disk->mutex};
  auto& handles = (*h.file)->handles;
  handles.erase(std::remove(handles.begin(), handles.end(), &h), handles.end());
  if (h.delete_on_close && !dead(h)) h.disk->files.erase(*h.name);
  delete h.file;
  delete h.name;
  delete h.generation;
  return SQLITE_OK;
}

int do_read(sqlite3_file* f, void* out, int amount, sqlite3_int64 offset) {
  Handle& h = of(f);
  const Lock guard{h.disk->mutex};
  if (dead(h)) return SQLITE_IOERR_READ;
  const auto& now = (*h.file)->now;
  const auto begin = std::min(static_cast<std::size_t>(offset), now.size());
  const auto n = std::min(static_cast<std::size_t>(amount), now.size() - begin);
  if (n > 0) std::memcpy(out, now.data() + begin, n);
  if (n == static_cast<std::size_t>(amount)) return SQLITE_OK;
  std::memset(static_cast<char*>(out) + n, 0, static_cast<std::size_t>(amount) - n);
  return SQLITE_IOERR_SHORT_READ;
}

std::size_t total(const PowerCutDisk::Impl& disk) {
  std::size_t sum = 0;
  for (const auto& [name, file] : disk.files) sum += file->now.size();
  return sum;
}

int do_write(sqlite3_file* f, const void* data, int amount, sqlite3_int64 offset) {
  Handle& h = of(f);
  const Lock guard{h.disk->mutex};
  if (dead(h)) return SQLITE_IOERR_WRITE;
  File& file = **h.file;
  const auto begin = static_cast<std::size_t>(offset);
  const auto end = begin + static_cast<std::size_t>(amount);
  if (h.disk->capacity && end > file.now.size() && total(*h.disk) - file.now.size() + end > *h.disk->capacity) return SQLITE_FULL;
  const char* bytes = static_cast<const char*>(data);
  for (std::size_t at = begin; at < end;) {   // each sector may get to the disk or not
    const std::size_t next = std::min(end, (at / sector + 1) * sector);
    file.unsynced.push_back({at, {bytes + (at - begin), bytes + (next - begin)}, false});
    put_change(file.now, file.unsynced.back());
    at = next;
  }
  return SQLITE_OK;
}

int do_truncate(sqlite3_file* f, sqlite3_int64 size) {
  Handle& h = of(f);
  const Lock guard{h.disk->mutex};
  if (dead(h)) return SQLITE_IOERR_TRUNCATE;
  File& file = **h.file;
  file.unsynced.push_back({static_cast<std::size_t>(size), {}, true});
  put_change(file.now, file.unsynced.back());
  return SQLITE_OK;
}

int do_sync(sqlite3_file* f, int) {
  Handle& h = of(f);
  const Lock guard{h.disk->mutex};
  if (dead(h) || h.disk->fail_syncs) return SQLITE_IOERR_FSYNC;
  ++h.disk->syncs;
  File& file = **h.file;
  file.synced = file.now;
  file.name_synced = true;
  file.unsynced.clear();
  return SQLITE_OK;
}

int do_size(sqlite3_file* f, sqlite3_int64* size) {
  Handle& h = of(f);
  const Lock guard{h.disk->mutex};
  if (dead(h)) return SQLITE_IOERR_FSTAT;
  *size = static_cast<sqlite3_int64>((*h.file)->now.size());
  return SQLITE_OK;
}

int do_lock(sqlite3_file* f, int level) {
  Handle& h = of(f);
  const Lock guard{h.disk->mutex};
  if (dead(h)) return SQLITE_IOERR_LOCK;
  if (h.lock >= level) return SQLITE_OK;
  int highest = SQLITE_LOCK_NONE;
  for (const Handle* other : (*h.file)->handles)
    if (other != &h) highest = std::max(highest, other->lock);
  const bool busy = (level == SQLITE_LOCK_SHARED && highest >= SQLITE_LOCK_PENDING) ||
                    (level == SQLITE_LOCK_RESERVED && highest >= SQLITE_LOCK_RESERVED) ||
                    (level == SQLITE_LOCK_EXCLUSIVE && highest >= SQLITE_LOCK_SHARED);
  if (busy) return SQLITE_BUSY;
  h.lock = level;
  return SQLITE_OK;
}

int do_unlock(sqlite3_file* f, int level) {
  Handle& h = of(f);
  const Lock guard{h.disk->mutex};
  h.lock = std::min(h.lock, level);
  return SQLITE_OK;
}

int do_check_reserved(sqlite3_file* f, int* out) {
  Handle& h = of(f);
  const Lock guard{h.disk->mutex};
  *out = 0;
  for (const Handle* each : (*h.file)->handles)
    if (each->lock >= SQLITE_LOCK_RESERVED) *out = 1;
  return SQLITE_OK;
}

int do_control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int do_sector_size(sqlite3_file*) { return 4096; }
int do_characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

int do_shm_map(sqlite3_file* f, int region, int size, int extend, void volatile** out) {
  Handle& h = of(f);
  const Lock guard{h.disk->mutex};
  *out = nullptr;
  if (dead(h) || size != 32768) return SQLITE_IOERR_SHMMAP;
  auto& shared = (*h.file)->shared;
  const auto index = static_cast<std::size_t>(region);
  if (index >= shared.size() && extend == 0) return SQLITE_OK;
  while (shared.size() <= index) shared.push_back(std::make_unique<std::array<char, 32768>>());
  *out = shared[index]->data();
  return SQLITE_OK;
}

int do_shm_lock(sqlite3_file* f, int offset, int n, int flags) {
  Handle& h = of(f);
  const Lock guard{h.disk->mutex};
  if (dead(h)) return SQLITE_IOERR_SHMLOCK;
  File& file = **h.file;
  const bool exclusive = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
  for (int i = offset; i < offset + n; ++i) {
    const auto slot = static_cast<std::size_t>(i);
    const unsigned bit = 1U << slot;
    if ((flags & SQLITE_SHM_UNLOCK) != 0) {
      if ((h.shm_shared & bit) != 0) --file.readers[slot];
      if ((h.shm_exclusive & bit) != 0) file.writer[slot] = false;
      h.shm_shared &= ~bit;
      h.shm_exclusive &= ~bit;
    } else if (exclusive ? file.writer[slot] || file.readers[slot] > 0 : file.writer[slot]) {
      do_shm_lock(f, offset, i - offset, SQLITE_SHM_UNLOCK | (exclusive ? SQLITE_SHM_EXCLUSIVE : SQLITE_SHM_SHARED));
      return SQLITE_BUSY;
    } else if (exclusive) {
      file.writer[slot] = true;
      h.shm_exclusive |= bit;
    } else if ((h.shm_shared & bit) == 0) {
      ++file.readers[slot];
      h.shm_shared |= bit;
    }
  }
  return SQLITE_OK;
}

void do_shm_barrier(sqlite3_file*) { std::atomic_thread_fence(std::memory_order_seq_cst); }

int do_shm_unmap(sqlite3_file* f, int remove) {
  Handle& h = of(f);
  const Lock guard{h.disk->mutex};
  if (dead(h)) return SQLITE_OK;
  do_shm_lock(f, 0, SQLITE_SHM_NLOCK, SQLITE_SHM_UNLOCK | SQLITE_SHM_SHARED);
  if (remove != 0 && (*h.file)->handles.size() == 1) (*h.file)->shared.clear();
  return SQLITE_OK;
}

const sqlite3_io_methods methods = {2,
                                    do_close,
                                    do_read,
                                    do_write,
                                    do_truncate,
                                    do_sync,
                                    do_size,
                                    do_lock,
                                    do_unlock,
                                    do_check_reserved,
                                    do_control,
                                    do_sector_size,
                                    do_characteristics,
                                    do_shm_map,
                                    do_shm_lock,
                                    do_shm_barrier,
                                    do_shm_unmap,
                                    nullptr,
                                    nullptr};

int do_open(sqlite3_vfs* vfs, const char* name, sqlite3_file* f, int flags, int* out_flags) {
  auto& disk = of(vfs);
  const Lock guard{disk.mutex};
  f->pMethods = nullptr;
  static std::uint64_t unnamed = 0;
  const std::string key = name != nullptr ? name : "unnamed-" + std::to_string(++unnamed);
  auto it = disk.files.find(key);
  if (it == disk.files.end()) {
    if ((flags & SQLITE_OPEN_CREATE) == 0) return SQLITE_CANTOPEN;
    it = disk.files.emplace(key, std::make_shared<File>()).first;
  }
  Handle& h = of(f);
  h.disk = &disk;
  h.file = new std::shared_ptr<File>(it->second);
  h.name = new std::string(key);
  h.generation = new std::uint64_t(disk.generation);
  h.lock = SQLITE_LOCK_NONE;
  h.shm_shared = h.shm_exclusive = 0;
  h.delete_on_close = (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
  it->second->handles.push_back(&h);
  f->pMethods = &methods;
  if (out_flags != nullptr) *out_flags = flags;
  return SQLITE_OK;
}

int do_delete(sqlite3_vfs* vfs, const char* name, int sync_folder) {
  auto& disk = of(vfs);
  const Lock guard{disk.mutex};
  const auto it = disk.files.find(name);
  if (it == disk.files.end()) return SQLITE_IOERR_DELETE_NOENT;
  if (sync_folder == 0) disk.deleted.emplace_back(name, it->second);
  else disk.deleted.clear();
  disk.files.erase(it);
  return SQLITE_OK;
}

int do_access(sqlite3_vfs* vfs, const char* name, int, int* out) {
  auto& disk = of(vfs);
  const Lock guard{disk.mutex};
  *out = disk.files.contains(name) ? 1 : 0;
  return SQLITE_OK;
}

int do_full_path(sqlite3_vfs*, const char* name, int size, char* out) {
  if (std::strlen(name) + 1 > static_cast<std::size_t>(size)) return SQLITE_CANTOPEN;
  std::strcpy(out, name);
  return SQLITE_OK;
}

int do_randomness(sqlite3_vfs* vfs, int n, char* out) { return of(vfs).host->xRandomness(of(vfs).host, n, out); }
int do_sleep(sqlite3_vfs* vfs, int us) { return of(vfs).host->xSleep(of(vfs).host, us); }
int do_time(sqlite3_vfs* vfs, double* out) { return of(vfs).host->xCurrentTime(of(vfs).host, out); }
int do_last_error(sqlite3_vfs*, int, char*) { return 0; }

}  // namespace

PowerCutDisk::PowerCutDisk(std::string name) : name_(std::move(name)), impl_(std::make_unique<Impl>()) {
  auto& vfs = impl_->vfs;
  impl_->host = sqlite3_vfs_find(nullptr);
  vfs.iVersion = 1;
  vfs.szOsFile = sizeof(Handle);
  vfs.mxPathname = 512;
  vfs.zName = name_.c_str();
  vfs.pAppData = impl_.get();
  vfs.xOpen = do_open;
  vfs.xDelete = do_delete;
  vfs.xAccess = do_access;
  vfs.xFullPathname = do_full_path;
  vfs.xRandomness = do_randomness;
  vfs.xSleep = do_sleep;
  vfs.xCurrentTime = do_time;
  vfs.xGetLastError = do_last_error;
  if (sqlite3_vfs_register(&vfs, 0) != SQLITE_OK) throw std::runtime_error("the VFS can not be registered");
}

PowerCutDisk::~PowerCutDisk() { sqlite3_vfs_unregister(&impl_->vfs); }

void PowerCutDisk::cut(std::uint64_t seed) {
  const Lock guard{impl_->mutex};
  ++impl_->generation;
  std::mt19937_64 random{seed};
  const auto chance = [&](double p) { return std::bernoulli_distribution{p}(random); };
  constexpr std::array parts{0.0, 0.1, 0.5, 0.9, 1.0};
  auto candidates = std::exchange(impl_->deleted, {});
  std::erase_if(candidates, [&](const auto& each) { return impl_->files.contains(each.first) || chance(0.5); });
  for (auto& each : impl_->files) candidates.emplace_back(each);
  impl_->files.clear();
  for (auto& [name, old] : candidates) {
    if (!old->name_synced && chance(0.5)) continue;
    auto file = std::make_shared<File>();
    file->now = old->synced;
    auto& changes = old->unsynced;
    std::shuffle(changes.begin(), changes.end(), random);
    const double part = parts.at(random() % parts.size());
    for (const auto& change : changes)
      if (chance(part)) put_change(file->now, change);
    file->synced = file->now;
    file->name_synced = true;
    impl_->files.insert_or_assign(name, std::move(file));
  }
}

void PowerCutDisk::set_capacity(std::optional<std::size_t> bytes) {
  const Lock guard{impl_->mutex};
  impl_->capacity = bytes;
}

std::size_t PowerCutDisk::used() const {
  const Lock guard{impl_->mutex};
  return total(*impl_);
}

void PowerCutDisk::fail_syncs(bool fail) {
  const Lock guard{impl_->mutex};
  impl_->fail_syncs = fail;
}

void PowerCutDisk::damage(const std::string& file, std::size_t offset) {
  const Lock guard{impl_->mutex};
  auto& content = impl_->files.at(file)->now;
  content.at(offset) = static_cast<char>(content.at(offset) ^ 0x10);
}

std::uint64_t PowerCutDisk::syncs() const {
  const Lock guard{impl_->mutex};
  return impl_->syncs;
}

}  // namespace sy::test
