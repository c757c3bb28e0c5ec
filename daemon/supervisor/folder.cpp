#include "daemon/supervisor/folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace sy::supervisor {

namespace {

int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

[[noreturn]] void fail(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

std::string reserve_name(const char* name) { return std::string{name} + ".reserve"; }

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& o) noexcept {
  if (this != &o) {
    reset();
    fd_ = o.release();
  }
  return *this;
}
void Descriptor::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Folder Folder::open(const std::string& path) {
  Descriptor fd{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  if (!fd) fail("could not open the folder " + path);
  return Folder{std::move(fd)};
}

Folder Folder::sub(const std::string& name) const {
  Descriptor fd{::openat(fd_.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  if (!fd) fail("could not open the folder " + name);
  return Folder{std::move(fd)};
}

Folder Folder::make(const std::string& name) const {
  if (::mkdirat(fd_.get(), name.c_str(), 0700) != 0 && errno != EEXIST) fail("could not make the folder " + name);
  return sub(name);
}

std::optional<std::string> Folder::read(const char* name, std::size_t limit) const {
  const Descriptor fd{::openat(fd_.get(), name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)};
  if (!fd) return std::nullopt;
  std::string out;
  char buffer[16384];
  for (;;) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 || out.size() > limit) return std::nullopt;
    if (n == 0) return out;
    out.append(buffer, static_cast<std::size_t>(n));
  }
}

bool Folder::exists(const char* name) const {
  struct stat s{};
  return ::fstatat(fd_.get(), name, &s, AT_SYMLINK_NOFOLLOW) == 0;
}

std::vector<std::string> Folder::names() const {
  std::vector<std::string> out;
  const int copy = ::openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* dir = copy < 0 ? nullptr : ::fdopendir(copy);
  if (dir == nullptr) {
    if (copy >= 0) ::close(copy);
    fail("could not list a folder");
  }
  while (const dirent* entry = ::readdir(dir)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") out.push_back(name);
  }
  ::closedir(dir);
  return out;
}

void Folder::remove(const char* name) const { ::unlinkat(fd_.get(), name, 0); }

void Folder::remove_all_files() const {
  for (const auto& name : names()) remove(name.c_str());
}

int Folder::create_mark(const char* name) const {
  const Descriptor fd{::openat(fd_.get(), name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (!fd || ::fsync(fd.get()) != 0) return errno;
  return sync();
}

int Folder::write(const char* name, std::string_view bytes, bool durable, int mode) const {
  const std::string temporary = std::string{name} + ".new";
  ::unlinkat(fd_.get(), temporary.c_str(), 0);  // left by one that was killed
  {
    const Descriptor fd{::openat(fd_.get(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)};
    if (!fd) return errno;
    int error = write_all(fd.get(), bytes);
    if (error == 0 && ::fchmod(fd.get(), static_cast<mode_t>(mode)) != 0) error = errno;
    if (error == 0 && durable && ::fsync(fd.get()) != 0) error = errno;
    if (error != 0) {
      ::unlinkat(fd_.get(), temporary.c_str(), 0);
      return error;
    }
  }
  if (::renameat(fd_.get(), temporary.c_str(), fd_.get(), name) != 0) return errno;
  return durable ? sync() : 0;
}

int Folder::reserve(const char* name, std::size_t bytes) const {
  const Descriptor fd{::openat(fd_.get(), reserve_name(name).c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (!fd) return errno;
  return bytes == 0 ? 0 : ::posix_fallocate(fd.get(), 0, static_cast<off_t>(bytes));
}

int Folder::write_reserved(const char* name, std::string_view bytes, bool durable) const {
  const std::string reserved = reserve_name(name);
  {
    const Descriptor fd{::openat(fd_.get(), reserved.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC)};
    if (!fd) return write(name, bytes, durable);
    if (const int error = write_all(fd.get(), bytes); error != 0) return error;
    if (::ftruncate(fd.get(), static_cast<off_t>(bytes.size())) != 0) return errno;
    if (durable && ::fsync(fd.get()) != 0) return errno;
  }
  if (::renameat(fd_.get(), reserved.c_str(), fd_.get(), name) != 0) return errno;
  return durable ? sync() : 0;
}

int Folder::sync() const { return ::fsync(fd_.get()) == 0 ? 0 : errno; }

Descriptor Folder::lock(const char* name) const {
  Descriptor fd{::openat(fd_.get(), name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (!fd) return {};
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return {};
  return fd;
}

std::string Folder::proc_path(const std::string& name) const { return "/proc/self/fd/" + std::to_string(fd_.get()) + "/" + name; }

}  // namespace sy::supervisor
