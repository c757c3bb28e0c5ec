// A folder held open by descriptor: every file in it is reached by openat and never through a link.
// Not a cache and no policy; failures come back as errno values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sy::supervisor {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& o) noexcept : fd_(o.release()) {}
  Descriptor& operator=(Descriptor&& o) noexcept;
  ~Descriptor() { reset(); }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  void reset();

 private:
  int fd_{-1};
};

class Folder {
 public:
  // Throws std::system_error. `open` follows no link in the last component of `path`.
  static Folder open(const std::string& path);
  Folder sub(const std::string& name) const;
  // Creates it (0700) unless it is there; the caller syncs this folder when the new one must survive a power cut.
  Folder make(const std::string& name) const;

  std::optional<std::string> read(const char* name, std::size_t limit = 256U << 20) const;  // nullopt: absent or unreadable
  bool exists(const char* name) const;
  std::vector<std::string> names() const;  // without "." and ".."
  void remove(const char* name) const;     // files only; a missing one is fine
  void remove_all_files() const;

  // These return 0 or an errno value.
  int create_mark(const char* name) const;  // O_EXCL; file and folder synced
  int write(const char* name, std::string_view bytes, bool durable, int mode = 0600) const;  // temporary file, rename
  // Reserves room for a later write_reserved of up to `bytes`, so that a full disk can not swallow it.
  int reserve(const char* name, std::size_t bytes) const;
  int write_reserved(const char* name, std::string_view bytes, bool durable) const;
  int sync() const;

  // An exclusive lock that lives as long as the descriptor; empty when somebody else has it (errno EWOULDBLOCK).
  Descriptor lock(const char* name) const;
  int fd() const { return fd_.get(); }
  // A path to `name` that fits a socket address whatever the length of the folder's own path.
  std::string proc_path(const std::string& name) const;

 private:
  explicit Folder(Descriptor fd) : fd_(std::move(fd)) {}
  Descriptor fd_;
};

}  // namespace sy::supervisor
