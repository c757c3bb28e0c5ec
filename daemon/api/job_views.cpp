#include "daemon/api/job_views.hpp"

#include <algorithm>
#include <charconv>

#include "base/hostlist.hpp"
#include "core/decide/access.hpp"
#include "model/annotation_names.hpp"
#include "wire/job_values.hpp"

namespace sy::daemon {

namespace {
using base::Code;

bool any_of(const std::vector<std::string>& wanted, const std::string& value) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), value) != wanted.end();
}

bool in_partition(const std::vector<std::string>& wanted, const model::Job& job) {
  if (wanted.empty()) return true;
  if (job.attempt && !job.attempt->partition.empty() && job.state != model::JobState::pending)
    return any_of(wanted, job.attempt->partition);
  return std::any_of(job.spec->partitions.begin(), job.spec->partitions.end(), [&](const std::string& p) { return any_of(wanted, p); });
}

// A job that may run in several partitions is hidden when all of them are.
bool is_hidden(const std::set<std::string>& hidden, const model::Job& job) {
  if (hidden.empty()) return false;
  if (job.attempt && !job.attempt->partition.empty() && job.state != model::JobState::pending)
    return hidden.contains(job.attempt->partition);
  const auto& names = job.spec->partitions;
  return !names.empty() && std::all_of(names.begin(), names.end(), [&](const std::string& name) { return hidden.contains(name); });
}

base::Result<base::JobId> parse_id(std::string_view text, std::string field) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value == 0)
    return base::fail(Code::invalid_argument, "is not a job id", std::move(field), std::string(text.substr(0, 40)));
  return base::JobId{value};
}
}  // namespace

bool JobFilter::matches(const model::Job& job) const {
  if (!ids.empty() && !std::binary_search(ids.begin(), ids.end(), job.id)) return false;
  if (!any_of(users, job.user) || !any_of(names, job.spec->name) || !annotations_match(job)) return false;
  if (!in_partition(partitions, job)) return false;
  if (!state_matches(job) || (job.uid != asking && is_hidden(hidden, job))) return false;
  if (!nodes) return true;
  return job.attempt && job.state != model::JobState::pending &&
         std::any_of(job.attempt->nodes.begin(), job.attempt->nodes.end(),
                     [&](const model::NodeGrant& g) { return nodes->count(g.node) != 0; });
}

bool JobFilter::annotations_match(const model::Job& job) const {
  return std::all_of(annotations.begin(), annotations.end(), [&](const auto& asked) {
    const std::string& text = (*job.spec->annotations).*asked.first;
    if (any_of(asked.second, text)) return true;
    if (asked.first != &model::Annotations::mail_type) return false;  // a list: each of its words is looked for
    return std::any_of(asked.second.begin(), asked.second.end(),
                       [&](const std::string& word) { return ("," + text + ",").find("," + word + ",") != std::string::npos; });
  });
}

bool JobFilter::state_matches(const model::Job& job) const {
  if (states.empty() && !requeued) return true;
  if (wire::was_requeued(job)) return requeued;
  return std::any_of(states.begin(), states.end(),
                     [&](const auto& s) { return s.first == job.state && (s.first != model::JobState::ended || s.second == job.outcome); });
}

bool JobFilter::only_live() const {
  return !requeued && !states.empty() &&
         std::none_of(states.begin(), states.end(), [](const auto& s) { return s.first == model::JobState::ended; });
}

base::Result<std::vector<base::JobId>> read_job_ids(const http::Target& target) {
  std::vector<base::JobId> ids;
  auto texts = list_parameter(target, "id");
  if (!texts) return base::fail(texts.error());
  for (const std::string& text : *texts) {
    auto id = parse_id(text, "id");
    if (!id) return base::fail(id.error());
    ids.push_back(*id);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

std::vector<std::string> filter_parameters(std::vector<std::string> others) {
  std::vector<std::string> known{"id", "user", "state", "partition", "name", "node"};
  for (const auto& [name, member] : model::annotation_names) known.emplace_back(name);
  known.insert(known.end(), others.begin(), others.end());
  return known;
}

base::Result<JobFilter> read_job_filter(const http::Target& target, const model::State& state, const model::Principal& who) {
  JobFilter filter;
  filter.asking = who.uid;
  auto ids = read_job_ids(target);
  if (!ids) return base::fail(ids.error());
  filter.ids = std::move(*ids);
  for (const auto& [name, list] :
       {std::pair{"user", &filter.users}, std::pair{"partition", &filter.partitions}, std::pair{"name", &filter.names}}) {
    auto values = list_parameter(target, name);
    if (!values) return base::fail(values.error());
    *list = std::move(*values);
  }
  for (const auto& [name, member] : model::annotation_names) {
    auto values = list_parameter(target, name);
    if (!values) return base::fail(values.error());
    if (values->empty()) continue;
    if (values->size() > 1) values->push_back(*target.parameter(name));  // one text with commas, as a comment may have
    filter.annotations.emplace_back(member, std::move(*values));
  }
  auto states = list_parameter(target, "state");
  if (!states) return base::fail(states.error());
  for (const std::string& text : *states) {
    model::JobState job_state{};
    model::Outcome outcome{};
    if (text == "ended") {
      for (int o = 1; o <= static_cast<int>(model::Outcome::boot_fail); ++o)
        filter.states.emplace_back(model::JobState::ended, static_cast<model::Outcome>(o));
      filter.requeued = true;
      continue;
    }
    if (text == "requeued") {
      filter.requeued = true;
      continue;
    }
    if (!model::parse_state(text, job_state, outcome))
      return base::fail(Code::invalid_argument, "is not a state", "state", text,
                        "for example pending, running, completed, failed, cancelled, timeout");
    filter.states.emplace_back(job_state, outcome);
    if (job_state == model::JobState::running) filter.states.emplace_back(model::JobState::lost, outcome);  // shows as running
  }
  if (const std::string* shown = target.parameter("hidden"); shown != nullptr && *shown == "0") {
    for (const auto& partition : state.partitions)
      if (partition.hidden || core::refused_by(partition, who)) filter.hidden.insert(partition.name);
  } else if (shown != nullptr && *shown != "1") {
    return base::fail(base::Error{Code::invalid_argument, "is neither yes nor no", "hidden", "0, 1", *shown, {}});
  }
  if (target.parameter("node") != nullptr) {
    auto names = base::expand_hostlist(*target.parameter("node"));
    if (!names) return base::fail(names.error());
    filter.nodes.emplace();
    for (const std::string& name : *names) {
      const model::Node* node = state.find_node(name);
      if (node == nullptr) return base::fail(Code::not_found, "there is no such node", "node", name);
      filter.nodes->insert(node->index);
    }
  }
  return filter;
}

base::Result<base::JobId> job_of(const Call& call) { return parse_id(call.captures.at(0), "id"); }

void append_job_now(std::string& out, const Call& call, const model::Job& job, std::span<const wire::JobField> fields) {
  const auto plan = call.controller.planner().plan();
  wire::append_job(out, job, call.state(), plan->forecast_of(job.id), fields, call.controller.now());
}

}  // namespace sy::daemon
