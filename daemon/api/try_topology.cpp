// POST /v1/topologies/try: where would this job go, on a topology in force or on one that is only a text so far? Takes nothing,
// changes nothing, and knows no queue: that is a submission's dry run.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "core/decide/check_spec.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/small_body.hpp"
#include "http/problem.hpp"
#include "model/group_tree.hpp"
#include "model/job_target.hpp"
#include "sched/placement/chooser.hpp"
#include "wire/job_spec_json.hpp"
#include "wire/topology/import_topology.hpp"
#include "wire/views.hpp"

namespace sy::daemon::handlers {

namespace {
using base::Code;
using base::Error;
namespace placement = sched::placement;

// Anybody may ask, and the reading thread serves all: a user's text is bounded where an administrator's import is not.
constexpr std::size_t max_users_text = 256 * 1024;

struct Question {
  model::JobSpec spec;
  std::string text;  // of a topology file; empty: one in force
  std::string format, topology, file, partition;
  bool idle{}, skip_unknown_nodes{};
};

base::Result<Question> read_question(const Call& call) {
  auto json = small_body(call, {"spec", "text", "format", "topology", "file", "partition", "idle", "skip_unknown_nodes"});
  if (!json) return base::fail(json.error());
  Question q;
  const auto spec = json->find("spec");
  if (spec == json->end()) return base::fail(Code::invalid_argument, "is missing", "spec");
  if (spec->is_object() && !spec->contains("work_dir")) (*spec)["work_dir"] = "/";  // nothing starts
  auto read = wire::job_spec_from_json(*spec);
  if (!read) return base::fail(read.error());
  q.spec = std::move(*read);
  model::join_groups(q.spec);
  if (const auto text = json->find("text"); text != json->end()) {
    if (!text->is_string() || text->get_ref<const std::string&>().empty())
      return base::fail(Code::invalid_argument, "must be the topology file's text", "text");
    q.text = text->get<std::string>();
    if (q.text.size() > max_users_text && !call.who.is_administrator())
      return base::fail(Error{Code::too_large, "is too long", "text", fmt::format("{} bytes", max_users_text),
                              fmt::format("{} bytes", q.text.size()), "sy topo try needs no controller"});
  }
  for (const auto& [name, most, to] : {std::tuple{"format", 64, &q.format}, std::tuple{"topology", 255, &q.topology},
                                       std::tuple{"file", 4096, &q.file}, std::tuple{"partition", 255, &q.partition}}) {
    auto value = text_of(*json, name, static_cast<std::size_t>(most), false);
    if (!value) return base::fail(value.error());
    *to = std::move(*value);
  }
  if (q.text.empty() && !q.format.empty())
    return base::fail(Code::invalid_argument, "says how to read a text, and none is given", "format");
  auto idle = flag_of(*json, "idle"), skip = flag_of(*json, "skip_unknown_nodes");
  if (!idle) return base::fail(idle.error());
  if (!skip) return base::fail(skip.error());
  q.idle = *idle;
  q.skip_unknown_nodes = *skip;
  if (q.file.empty()) q.file = "text";
  return q;
}

// One of the partitions that the job may use.
struct Place {
  std::size_t partition{};
  std::shared_ptr<const model::TopologyIndex> index;
  std::string topology;
  placement::Options options;
};

// What the reading thread works on: values, and images that nobody changes.
struct Trial {
  Question question;
  std::shared_ptr<const model::ClusterShape> shape;
  bool administrator{};
  std::vector<wire::KnownNode> known;  // where a text is to be read
  std::vector<Place> places;           // in the order asked
  std::size_t chosen{};                // the one that is answered for
  std::vector<sched::NodeNow> nodes;
  std::vector<std::string> warnings;
  base::Result<void> sound{};
  std::string answer;
};

bool read_text(Trial& t) {
  std::unordered_map<std::string_view, base::NodeIndex> by_name;
  const auto& nodes = t.shape->nodes;
  for (std::uint32_t i = 0; i < nodes.size(); ++i)
    if (!nodes[i].removed) by_name.emplace(nodes[i].name, base::NodeIndex{i});
  wire::ClusterNodes cluster;
  cluster.find = [&](std::string_view name) -> std::optional<base::NodeIndex> {
    const auto found = by_name.find(name);
    return found == by_name.end() ? std::nullopt : std::optional(found->second);
  };
  cluster.all = [&] { return t.known; };
  const Question& q = t.question;
  wire::Faults faults(q.file);
  if (!t.administrator) faults.budget = wire::ReadBudget::small();
  auto imported = wire::import_topologies({q.text, q.format, q.topology, q.file, q.skip_unknown_nodes}, cluster, faults);
  if (!imported || imported->topologies.empty()) {
    t.sound =
        base::fail(faults.empty() ? Error{Code::invalid_argument, "the text holds no topology", "text", {}, {}, {}} : faults.to_error());
    return false;
  }
  for (auto& line : wire::report_lines(imported->report, q.file)) t.warnings.push_back(std::move(line));
  const model::Topology& topology = imported->topologies[imported->cluster_default];
  if (const auto wrong = model::check_topology(topology, nodes.size()); !wrong.empty()) {
    t.sound = base::fail(Error{Code::invalid_argument, wrong.front(), "text", {}, {}, {}});
    return false;
  }
  const auto index = std::make_shared<const model::TopologyIndex>(model::TopologyIndex::build(topology, placement::node_names(*t.shape)));
  for (Place& place : t.places) place.index = index, place.topology = topology.name;
  return true;
}

// In the first partition that has room now, else in the first where it could ever run.
void work_out(Trial& t, const model::Settings& settings) {
  if (!t.question.text.empty() && !read_text(t)) return;
  if (t.question.idle) t.nodes = placement::idle_nodes(*t.shape);
  std::optional<placement::Answer> best;
  std::optional<base::Error> refused;
  for (std::size_t i = 0; i < t.places.size() && !(best && best->placed()); ++i) {
    const Place& place = t.places[i];
    const model::Group group = sched::with_partition(*t.shape, place.partition, settings, t.question.spec.groups.front());
    if (const auto sound = placement::check_request(group, *place.index); !sound) {
      if (!refused) refused = sound.error();
      continue;
    }
    auto answer = placement::place(group, *t.shape, *place.index, t.nodes, place.options);
    if (best && answer.verdict.kind >= best->verdict.kind) continue;  // fits, not now, never
    best = std::move(answer);
    t.chosen = i;
  }
  if (!best) {
    t.sound = base::fail(*refused);
    return;
  }
  const Place& place = t.places[t.chosen];
  const model::Group group = sched::with_partition(*t.shape, place.partition, settings, t.question.spec.groups.front());
  for (auto& w : placement::warnings(group, *place.index)) t.warnings.push_back(std::move(w));
  const auto fragmentation = placement::fragmentation(*place.index, t.nodes) + best->fragmentation_growth;
  wire::append_answer(t.answer, *best, *t.shape, *place.index, fragmentation);
}

// Where the user's jobs are that the request wants to be near to, or away from.
std::vector<placement::Member> members_of(const model::State& state, const model::JobSpec& spec, base::Uid uid) {
  std::vector<placement::Member> out;
  for (const auto& text : model::jobs_named_in(spec.groups.front())) {
    const auto target = model::job_target(text);
    const std::string_view name = target->name.empty() ? std::string_view(spec.name) : target->name;
    for (const auto id : state.live) {
      const model::Job& job = state.jobs.at(id);
      if (!job.attempt || job.uid != uid || (target->id ? id.value != *target->id : job.spec->name != name)) continue;
      for (const auto& grant : job.attempt->nodes) out.push_back({text, grant.node, 1});
    }
  }
  return out;
}

// The topology in force that the question names, else the partition's.
base::Result<void> choose_topology(const model::State& state, const Trial& t, Place& place) {
  const std::string& wanted = t.question.topology;
  if (!t.question.text.empty()) return {};
  if (wanted.empty()) {
    place.index = sched::index_of(*t.shape, place.partition);
    place.topology = place.index->name();
    return {};
  }
  const auto found = state.topologies.find(wanted);
  if (found == state.topologies.end()) {
    std::vector<std::string> known;
    for (const auto& [name, topology] : state.topologies) known.push_back(name);
    return base::fail(Error{Code::not_found, "there is no such topology", "topology", fmt::format("{}", fmt::join(known, ", ")),
                            wanted.substr(0, 80), "give its text to try one that is not in force"});
  }
  place.topology = wanted;
  const auto made = t.shape->indexes.find(wanted);
  place.index =
      made != t.shape->indexes.end()
          ? made->second
          : std::make_shared<const model::TopologyIndex>(model::TopologyIndex::build(found->second, placement::node_names(*t.shape)));
  return {};
}

// As a submission would look at it, up to whether it could ever run: that is the answer here.
base::Result<void> check_question(const Call& call, Trial& t) {
  const model::State& state = call.state();
  auto& spec = t.question.spec;
  if (!t.question.partition.empty()) spec.partitions = {t.question.partition};
  if (auto ok = core::check_spec(spec, call.who); !ok) return ok;
  if (!t.question.idle)
    if (auto ok = core::check_jobs_named(state, spec, call.who.uid); !ok) return ok;
  const auto partitions = core::resolve_partitions(state, call.who, spec, t.warnings);
  if (!partitions) return base::fail(partitions.error());
  t.shape = state.shape ? state.shape : model::make_shape(state);
  const auto& all = t.shape->partitions;
  for (const std::string& name : *partitions) {
    const auto at = std::find_if(all.begin(), all.end(), [&](const model::Partition& p) { return p.name == name; });
    if (at == all.end()) return base::fail(Code::internal, "the partition is not in the image of the cluster", "partition");
    Place& place = t.places.emplace_back();
    place.partition = static_cast<std::size_t>(at - all.begin());
    if (auto ok = choose_topology(state, t, place); !ok) return ok;
  }
  return {};
}

std::string text_list(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& each : texts) out += (out.empty() ? "" : ",") + http::json_string(each);
  return "[" + out + "]";
}
}  // namespace

void try_topology(const CallPtr& call) {
  auto question = read_question(*call);
  call->request.body = {};
  if (!question) return call->fail(question.error());
  auto trial = std::make_shared<Trial>();
  trial->question = std::move(*question);
  trial->administrator = call->who.is_administrator();
  if (auto ok = check_question(*call, *trial); !ok) return call->fail(ok.error());

  const model::State& state = call->state();
  const bool own = trial->question.text.empty() && trial->question.topology.empty();
  const auto members = trial->question.idle ? std::vector<placement::Member>{} : members_of(state, trial->question.spec, call->who.uid);
  for (Place& place : trial->places) {
    place.options = sched::options_for(*trial->shape, place.partition, state.settings, call->who.uid);
    if (!own) place.options.weight_first = trial->shape->partitions[place.partition].weight_first;
    place.options.members_anywhere = trial->question.idle;
    place.options.members = members;
  }
  if (!trial->question.idle) {
    for (const model::Node& node : state.nodes) trial->nodes.push_back(sched::node_now(state, node));
    sched::nodes_of_exclusive_domains(state).for_each([&](base::NodeIndex n) { trial->nodes[n.value].exclusive = true; });
  }
  if (!trial->question.text.empty())
    for (const model::Node& node : state.nodes)
      if (!node.removed) trial->known.push_back({node.name, node.labels});
  call->controller.reader().run(
      [trial, settings = state.settings] { work_out(*trial, settings); },
      [trial, call] {
        if (!trial->sound) return call->fail(trial->sound.error());
        const Place& place = trial->places[trial->chosen];
        call->reply_json(fmt::format("{{\"topology\":{},\"partition\":{},\"warnings\":{},{}", http::json_string(place.topology),
                                     http::json_string(trial->shape->partitions[place.partition].name), text_list(trial->warnings),
                                     trial->answer.substr(1)));
      });
}

}  // namespace sy::daemon::handlers
