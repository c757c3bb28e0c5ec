// A disk in memory under SQLite, which forgets at a power cut what was not synced: of the writes since the last sync of a
// file any part may be there, in any order, torn at sectors. Also full and failing disks. Not a model of one file system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace sy::test {

class PowerCutDisk {
 public:
  explicit PowerCutDisk(std::string name);   // registers the VFS of that name; unregistered with the disk
  ~PowerCutDisk();
  PowerCutDisk(const PowerCutDisk&) = delete;
  PowerCutDisk& operator=(const PowerCutDisk&) = delete;

  const std::string& vfs() const { return name_; }

  // The power goes, and comes back: files hold what a disk may hold then. Whoever had them open gets I/O errors for ever.
  void cut(std::uint64_t seed);

  // Writes that would make the files larger than this fail with "disk full". Absent: endless.
  void set_capacity(std::optional<std::size_t> bytes);
  std::size_t used() const;
  // While set, every sync fails, and what it should have kept stays unsynced.
  void fail_syncs(bool);
  // One bit of one byte of the file is turned over.
  void damage(const std::string& file, std::size_t offset);
  std::uint64_t syncs() const;

  struct Impl;

 private:
  std::string name_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sy::test
