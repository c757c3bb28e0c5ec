#include "daemon/runtime/private_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace sy::daemon {

namespace {
tl::unexpected<base::Error> failed(std::string what, const std::string& path, int error) {
  return base::fail(base::Code::unavailable, std::move(what) + ": " + std::strerror(error), "file", path);
}

struct Descriptor {
  explicit Descriptor(int d) : number(d) {}
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number;
};
}  // namespace

base::Result<void> ensure_private_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return failed("the folder can not be made", path, errno);
  const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder.number < 0) return failed("the folder can not be opened", path, errno);
  struct stat info{};
  if (::fstat(folder.number, &info) != 0) return failed("the folder can not be looked at", path, errno);
  if (info.st_uid != ::geteuid())
    return base::fail(base::Code::forbidden, "the folder belongs to another user", "file", path,
                      fmt::format("run this as uid {}, whose folder it is", info.st_uid));
  if ((info.st_mode & 07777U) != 0700)
    return base::fail(base::Error{base::Code::forbidden, "others may enter the folder", "file", "0700",
                                  fmt::format("{} has {:04o}", path, info.st_mode & 07777U), "chmod 0700 " + path});
  return {};
}

base::Result<void> write_file(const std::string& path, std::string_view content, unsigned mode) {
  const std::string temporary = path + ".new";
  {
    const Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode));
    if (file.number < 0) return failed("the file can not be made", temporary, errno);
    if (::fchmod(file.number, mode) != 0) return failed("the file's mode can not be set", temporary, errno);
    while (!content.empty()) {
      const auto count = ::write(file.number, content.data(), content.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return failed("the file can not be written", temporary, errno);
      content.remove_prefix(static_cast<std::size_t>(count));
    }
    if (::fsync(file.number) != 0) return failed("the file can not be written", temporary, errno);
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) return failed("the file can not be put in place", path, errno);
  return {};
}

base::Result<std::string> read_file(const std::string& path, std::size_t limit) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number < 0) return failed("the file can not be opened", path, errno);
  std::string text;
  std::array<char, 65'536> buffer{};
  while (true) {
    const auto count = ::read(file.number, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("the file can not be read", path, errno);
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > limit)
      return base::fail(base::Error{base::Code::too_large, "the file is too large", "file", fmt::format("{} bytes", limit), path, {}});
  }
}

}  // namespace sy::daemon
