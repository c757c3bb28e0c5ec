#include "daemon/supervisor/process_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <unordered_map>

namespace sy::supervisor {

namespace {

std::string read_text(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::string out;
  char buffer[8192];
  for (ssize_t n; (n = ::read(fd, buffer, sizeof buffer)) > 0;) out.append(buffer, static_cast<std::size_t>(n));
  ::close(fd);
  return out;
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> out;
  DIR* proc = ::opendir("/proc");
  if (proc == nullptr) return out;
  while (const dirent* entry = ::readdir(proc))
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9') out.push_back(static_cast<pid_t>(std::atoi(entry->d_name)));
  ::closedir(proc);
  return out;
}

// The fourth field of stat; the second, the command name in brackets, may itself hold spaces and brackets.
pid_t parent_of(pid_t pid) {
  const std::string stat = read_text("/proc/" + std::to_string(pid) + "/stat");
  const auto bracket = stat.rfind(')');
  if (bracket == std::string::npos || bracket + 4 >= stat.size()) return 0;
  return static_cast<pid_t>(std::atoi(stat.c_str() + bracket + 4));
}

}  // namespace

std::vector<pid_t> descendants_of(pid_t root) {
  std::unordered_map<pid_t, std::vector<pid_t>> children;
  for (const pid_t pid : all_processes()) children[parent_of(pid)].push_back(pid);
  std::vector<pid_t> out = children[root];
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto more = children.find(out[i]);
    if (more != children.end()) out.insert(out.end(), more->second.begin(), more->second.end());
  }
  return out;
}

std::vector<pid_t> processes_with_environment(const std::string& entry) {
  std::vector<pid_t> out;
  const std::string inner = std::string(1, '\0') + entry + std::string(1, '\0');
  for (const pid_t pid : all_processes()) {
    const std::string environment = read_text("/proc/" + std::to_string(pid) + "/environ");
    if (environment.starts_with(inner.substr(1)) || environment.find(inner) != std::string::npos) out.push_back(pid);
  }
  return out;
}

}  // namespace sy::supervisor
