#include "daemon/agent/job_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "wire/json_text.hpp"

namespace sy::daemon {

namespace {

using base::Code;
using base::fail;
using supervisor::Folder;

base::Error trouble(const std::string& what, const std::string& path, int error) {
  return {Code::unavailable, what + ": " + std::strerror(error), "job_files", {}, path, {}};
}

void append_texts(std::string& out, const std::vector<std::string>& texts) {
  out += '[';
  for (const auto& t : texts) {
    if (&t != texts.data()) out += ',';
    wire::append_quoted(out, t);
  }
  out += ']';
}

struct Ranks {
  std::uint64_t first{}, count{};
  const std::string* node{};
  const model::PlacedPart* part{};
};

// Without a topology each node is one part.
std::vector<Ranks> ranks_of(const wire::LaunchMessage& m) {
  std::vector<Ranks> out;
  std::uint64_t next = 0;
  const auto add = [&](std::size_t node, std::uint64_t count, const model::PlacedPart* part) {
    if (node < m.nodes.size()) out.push_back({next, count, &m.nodes[node], part});
    next += count;
  };
  if (m.placement)
    for (const auto& part : m.placement->parts) add(part.node.value, part.tasks, &part);
  else
    for (std::size_t i = 0; i < m.nodes.size(); ++i) add(i, i < m.tasks.size() ? m.tasks[i] : 1, nullptr);
  return out;
}

}  // namespace

bool has_placement(const wire::LaunchMessage& m) { return m.placement || m.nodes.size() > 1; }

std::string placement_json(const wire::LaunchMessage& m) {
  static const model::PlacementRecord none;
  const model::PlacementRecord& record = m.placement ? *m.placement : none;
  std::string out = "{\"job\":" + std::to_string(m.job.value) + ",\"attempt\":" + std::to_string(m.attempt.value) + ",\"topology\":";
  wire::append_quoted(out, record.topology);
  out += ",\"levels\":";
  append_texts(out, record.levels);
  out += ",\"level\":";
  wire::append_quoted(out, record.level);
  out += ",\"domains\":";
  append_texts(out, record.domains);
  out += ",\"nodes\":";
  append_texts(out, m.nodes);
  out += ",\"ranks\":[";
  bool first = true;
  for (const Ranks& r : ranks_of(m)) {
    if (!first) out += ',';
    first = false;
    out += "{\"first\":" + std::to_string(r.first) + ",\"count\":" + std::to_string(r.count) + ",\"node\":";
    wire::append_quoted(out, *r.node);
    if (r.part != nullptr) {
      out += ",\"path\":";
      append_texts(out, r.part->path < record.paths.size() ? record.paths[r.part->path] : std::vector<std::string>{});
      if (record.segmented && r.part->segment) out += ",\"segment\":" + std::to_string(*r.part->segment);
      if (r.part->group < record.groups.size()) {
        out += ",\"group\":";
        wire::append_quoted(out, record.groups[r.part->group]);
        out += ",\"replica\":" + std::to_string(r.part->replica);
      }
    }
    out += '}';
  }
  return out + "]}\n";
}

std::string nodes_text(const wire::LaunchMessage& m) {
  std::string out;
  for (const auto& name : m.nodes) out += name + "\n";
  return out;
}

base::Result<JobFiles> JobFiles::open(const std::string& path) {
  const bool made = ::mkdir(path.c_str(), 0755) == 0;
  if (!made && errno != EEXIST) return fail(trouble("the folder for jobs' files can not be made", path, errno));
  try {
    Folder root = Folder::open(path);
    if (made && ::fchmod(root.fd(), 0755) != 0)  // whatever our umask is: jobs of all users read it
      return fail(trouble("the folder for jobs' files can not be opened to jobs", path, errno));
    struct stat s{};
    if (::fstat(root.fd(), &s) != 0 || s.st_uid != ::geteuid() || (s.st_mode & 022) != 0)
      return fail(base::Error{Code::conflict, "the folder for jobs' files belongs to somebody else, or others may write to it", "job_files",
                              "0755, the agent's own", path, "remove it, or name another"});
    return JobFiles{path, std::move(root)};
  } catch (const std::system_error& e) { return fail(trouble("the folder for jobs' files can not be opened", path, e.code().value())); }
}

std::string JobFiles::path(AttemptKey key) const { return path_ + "/" + to_text(key); }

base::Result<void> JobFiles::create(AttemptKey key, const wire::LaunchMessage& m) const {
  try {
    const Folder folder = root_.make(to_text(key));
    int error = ::fchmod(folder.fd(), 0755) == 0 ? 0 : errno;
    if (error == 0) error = folder.write(job_file::placement, placement_json(m), false, 0644);
    if (error == 0) error = folder.write(job_file::nodes, nodes_text(m), false, 0644);
    if (error == 0) return {};
    drop(key);
    return fail(trouble("the job's files can not be written", path(key), error));
  } catch (const std::system_error& e) { return fail(trouble("the job's files can not be written", path(key), e.code().value())); }
}

void JobFiles::drop(AttemptKey key) const {
  const std::string name = to_text(key);
  try {
    root_.sub(name).remove_all_files();
  } catch (const std::system_error&) {
    return;  // not there
  }
  ::unlinkat(root_.fd(), name.c_str(), AT_REMOVEDIR);
}

void JobFiles::drop_all_but(const std::set<AttemptKey>& keys) const {
  std::set<std::string> kept;
  for (const auto& key : keys) kept.insert(to_text(key));
  for (const auto& name : root_.names()) {
    if (kept.contains(name)) continue;
    if (const auto key = parse_attempt_key(name)) drop(*key);
  }
}

}  // namespace sy::daemon
