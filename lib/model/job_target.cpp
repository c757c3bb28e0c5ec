#include "model/job_target.hpp"

#include <algorithm>

namespace sy::model {

namespace {
void collect(const Group& g, bool avoided, std::vector<std::string>& out) {
  const auto add = [&](const std::vector<Affinity>& list) {
    for (const auto& a : list)
      if (job_target(a.target) && std::find(out.begin(), out.end(), a.target) == out.end()) out.push_back(a.target);
  };
  if (!avoided) add(g.affinity);
  add(g.anti_affinity);
  for (const auto& child : g.children) collect(child, avoided, out);
}
}  // namespace

std::optional<JobTarget> job_target(std::string_view text) {
  constexpr std::string_view prefix = "job:";
  if (!text.starts_with(prefix) || text.size() == prefix.size()) return std::nullopt;
  text.remove_prefix(prefix.size());
  if (text == "self") return JobTarget{};
  std::uint64_t id = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || text.size() > 18) return JobTarget{{}, text};
    id = id * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return JobTarget{id, {}};
}

std::vector<std::string> jobs_named_in(const Group& g) {
  std::vector<std::string> out;
  collect(g, false, out);
  return out;
}

std::vector<std::string> jobs_avoided_in(const Group& g) {
  std::vector<std::string> out;
  collect(g, true, out);
  return out;
}

bool names_jobs(const Group& g) { return !jobs_named_in(g).empty(); }

bool means_own_name(std::string_view target) {
  const auto t = job_target(target);
  return t && !t->id && t->name.empty();
}

}  // namespace sy::model
