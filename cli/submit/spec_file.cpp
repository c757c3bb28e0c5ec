#include "cli/submit/spec_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/hostlist.hpp"
#include "base/time_text.hpp"
#include "cli/submit/apply.hpp"
#include "cli/submit/options.hpp"
#include "cli/text.hpp"
#include "wire/yaml_reader.hpp"

namespace sy::cli {

namespace {

using wire::YamlMap;
using wire::YamlNode;

// Key → option. Only what follows has a name of its own; every other key is its option's name with '_' for '-'.
struct Key {
  std::string_view key, option;
  bool repeated{};           // a list means one option for each item; otherwise the items are joined by commas
};
constexpr std::array<Key, 22> job_keys{{{"name", "job-name"},
                                        {"partition", "partition"},
                                        {"partitions", "partition"},
                                        {"time", "time"},
                                        {"time_min", "time-min"},
                                        {"account", "account"},
                                        {"qos", "qos"},
                                        {"comment", "comment"},
                                        {"wckey", "wckey"},
                                        {"hint", "hint"},
                                        {"mail_type", "mail-type"},
                                        {"mail_user", "mail-user"},
                                        {"output", "output"},
                                        {"error", "error"},
                                        {"input", "input"},
                                        {"open_mode", "open-mode"},
                                        {"chdir", "chdir"},
                                        {"signal", "signal"},
                                        {"hold", "hold"},
                                        {"nice", "nice"},
                                        {"export", "export"},
                                        {"no_kill", "no-kill"}}};
constexpr std::array<Key, 30> group_keys{{{"nodes", "nodes"},
                                          {"tasks", "ntasks"},
                                          {"tasks_per_node", "ntasks-per-node"},
                                          {"cpus_per_task", "cpus-per-task"},
                                          {"mem", "mem"},
                                          {"mem_per_cpu", "mem-per-cpu"},
                                          {"mem_per_gpu", "mem-per-gpu"},
                                          {"gres", "gres"},
                                          {"gres_per_node", "gres"},
                                          {"gpus", "gpus"},
                                          {"gpus_per_node", "gpus-per-node"},
                                          {"gpus_per_task", "gpus-per-task"},
                                          {"constraint", "constraint"},
                                          {"nodelist", "nodelist"},
                                          {"exclude", "exclude"},
                                          {"exclusive", "exclusive"},
                                          {"oversubscribe", "oversubscribe"},
                                          {"contiguous", "contiguous"},
                                          {"switches", "switches"},
                                          {"segment", "segment", true},
                                          {"segments", "segment", true},
                                          {"sizes", "sizes"},
                                          {"spread_segments", "spread-segments"},
                                          {"consolidate_segments", "consolidate-segments"},
                                          {"distribution", "distribution"},
                                          {"within", "within"},
                                          {"near", "near"},
                                          {"ladder", "ladder"},
                                          {"order", "order"},
                                          {"fill", "fill"}}};

// What a group around others may say: it bounds them, and asks for nothing itself (model::check_groups).
bool may_bound(std::string_view key) {
  static constexpr std::array<std::string_view, 7> keys{"exclusive", "switches", "within", "near", "ladder", "order", "fill"};
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

const SubmitOption* option_of(std::string_view name) {
  for (const auto& option : submit_options())
    if (option.rule.name == name) return &option;
  return nullptr;
}

class Reader {
 public:
  Reader(wire::Faults& faults, const SubmitRequest& like) : faults_(faults), like_(like) {}

  // The outermost mapping: the job's own keys, those of its one group or of the groups inside.
  void read(const YamlNode& document, SubmitRequest& request, SpecFile& spec) {
    YamlMap m(document, "", faults_);
    for (const auto& key : job_keys) apply(m, key, request);
    if (const auto requeue = m.boolean("requeue")) request.spec.requeue = *requeue;
    spec.script = m.text("script");
    if (spec.script && spec.script->find('\n') != std::string::npos)
      m.refuse("script", "is the name of a file, not its text", {}, "put the text into a file and name it, or use wrap for a command");
    spec.wrap = m.text("wrap");
    spec.args = m.text_list("args").value_or(std::vector<std::string>{});
    if (spec.script && spec.wrap) m.refuse("wrap", "a script is named already", {}, "keep one of script and wrap");
    if (spec.wrap && !spec.args.empty()) m.refuse("args", "a wrapped command takes no arguments", {}, "put them inside wrap");
    request.spec.groups.front() = group(m, /*outermost=*/true, &request);
    spec.has_groups = !request.spec.groups.front().children.empty();
    m.finish();
  }

 private:
  // `into`: a plain job keeps what options on top of the file may still change (GRES, segments) in its request.
  model::Group group(YamlMap& m, bool outermost, SubmitRequest* into) {
    SubmitRequest own = like_;
    own.spec.groups = {model::Group{}};
    SubmitRequest& request = into != nullptr && !m.has("groups") ? *into : own;
    const bool around = m.has("groups");
    for (const auto& key : group_keys)
      if (!around || may_bound(key.key)) apply(m, key, request);
      else not_around(m, key.key);
    exclusive_fits(m, outermost, around, request.group());
    spread(m, request);
    for (const char* key : {"starts_after", "gang_timeout", "on_loss"}) not_yet(m, key);
    model::Group& g = request.group();
    segment_details(m, g);
    pack(m, request);
    if (!outermost) g.name = m.text("name").value_or("");
    if (const auto n = m.integer("replicas", 1, 1'000'000)) g.replicas = static_cast<std::uint32_t>(*n);
    if (const auto n = m.integer("min_replicas", 1, 1'000'000)) g.min_replicas = static_cast<std::uint32_t>(*n);
    if (around) {
      not_around(m, "min_tasks");
      if (g.replicas == 1) not_around(m, "min");
    }
    if (const auto n = m.integer("min_tasks", 1, 16'777'216)) g.min_tasks = static_cast<std::uint32_t>(*n);
    if (const auto n = m.integer("min", 1, 16'777'216); n && (!around || g.replicas > 1)) minimum(m, g, static_cast<std::uint32_t>(*n));
    if (g.min_replicas > g.replicas)
      m.refuse("min_replicas", fmt::format("more than the {} replicas", g.replicas), std::to_string(g.min_replicas));
    affinity(m, "affinity", g.affinity);
    affinity(m, "anti_affinity", g.anti_affinity);
    m.each("groups", [&](const YamlNode& node, const std::string& path) {
      YamlMap inner(node, path, faults_);
      g.children.push_back(group(inner, false, nullptr));
      inner.finish();
    });
    if (m.has("groups") && g.children.empty()) m.refuse("groups", "names no group", {}, "list the groups, each with nodes or tasks");
    if (&request == &own)
      if (auto done = finish(own); !done) faults_.add(m.mark(), done.error());
    return std::move(g);
  }

  static void not_around(YamlMap& m, std::string_view key) {
    m.ignore(key);
    if (m.has(key))
      m.refuse(key, base::Error{base::Code::invalid_argument,
                                "a group with groups inside asks for no nodes, tasks or resources itself",
                                {},
                                "replicas, min_replicas, pack, switches, spread, affinity, anti_affinity",
                                {},
                                fmt::format("write {} in the groups inside that it is about", key)});
  }

  // Whole nodes are asked where nodes are; a whole domain is kept for the whole job.
  static void exclusive_fits(YamlMap& m, bool outermost, bool around, const model::Group& g) {
    if (!m.has("exclusive")) return;
    if (!outermost && !g.exclusive_level.empty())
      m.refuse("exclusive", "a domain can be kept for the whole job only", g.exclusive_level,
               fmt::format("write exclusive: {} beside the outermost groups", g.exclusive_level));
    else if ((!outermost || around) && g.sharing == model::Sharing::exclusive_user)
      m.refuse("exclusive", "a job of groups can not be exclusive for its user", "user", "leave it out");
    else if (around && g.sharing == model::Sharing::exclusive_node)
      m.refuse("exclusive", outermost ? "beside groups a level is meant" : "a group with groups inside asks for no nodes itself", "true",
               outermost ? "write exclusive: LEVEL, as in exclusive: rack, to keep domains for this job; for whole nodes write exclusive: "
                           "true in the groups inside"
                         : "write exclusive: true in the groups inside");
  }

  // Known, and for later (docs/design/0003): no slip of the pen, so no guess at what was meant.
  static void not_yet(YamlMap& m, const char* key) {
    if (!m.has(key)) return;
    m.ignore(key);
    m.refuse(key,
             base::Error{base::Code::unsupported, "this is known, but this release does not carry it out", {}, {}, {}, "leave it out"});
  }

  // exclusive: {level: rack}; besides what the option takes.
  void exclusive(YamlMap& m, const YamlNode& node, SubmitRequest& request) {
    YamlMap x(node, m.path_of("exclusive"), faults_);
    x.require("level");
    const auto level = x.text("level");
    not_yet(x, "scope");
    x.finish();
    if (level) give(m, "exclusive", *option_of("exclusive"), *level, true, request);
  }

  // The least of what the group counts: copies, else tasks, else nodes.
  void minimum(YamlMap& m, model::Group& g, std::uint32_t least) {
    const auto most = g.replicas > 1 ? g.replicas : g.tasks_given && !g.nodes_given ? g.tasks : g.nodes.max;
    if (least > most) m.refuse("min", fmt::format("more than the {} asked", most), std::to_string(least));
    if (g.replicas > 1) g.min_replicas = least;
    else if (g.tasks_given && !g.nodes_given) g.min_tasks = least;
    else g.nodes.min = least;
  }

  void apply(YamlMap& m, const Key& key, SubmitRequest& request) {
    const YamlNode* node = m.child(key.key);
    if (node == nullptr) return;
    const SubmitOption* option = option_of(key.option);
    if (option == nullptr || option->apply == nullptr) return;
    if (key.key == "exclusive" && node->is_mapping()) return exclusive(m, *node, request);
    if (option->rule.argument == base::OptionRule::Argument::none ||
        (node->is_scalar() && !node->quoted && is_flag(node->scalar) && option->rule.argument == base::OptionRule::Argument::optional)) {
      if (const auto on = m.boolean(key.key); on && *on) give(m, key.key, *option, {}, false, request);
      return;
    }
    if (node->is_scalar()) return give(m, key.key, *option, node->scalar, true, request);
    if (!node->is_sequence()) return m.refuse(key.key, "a text, a number or a list of them belongs here");
    std::vector<std::string> parts;  // an empty one is kept: the option refuses it where it means nothing
    for (const auto& item : node->items) {
      if (item.is_mapping() && key.repeated) {
        give(m, key.key, *option, segment_text(m, key.key, item), true, request);
        continue;
      }
      if (item.is_mapping() && key.option == "ladder") {
        parts.push_back(rung_text(m, item));
        continue;
      }
      if (!item.is_scalar()) return m.refuse(key.key, "a list of texts or numbers belongs here");
      if (key.repeated) give(m, key.key, *option, item.scalar, true, request);
      else parts.push_back(item.scalar);
    }
    if (!key.repeated) give(m, key.key, *option, fmt::format("{}", fmt::join(parts, ",")), true, request);
  }

  static bool is_flag(const std::string& text) { return text == "true" || text == "false" || text == "yes" || text == "no"; }

  void give(YamlMap& m, std::string_view key, const SubmitOption& option, std::string value, bool has_value, SubmitRequest& request) {
    request.now = Source::script;
    if (option.rule.name == "time" || option.rule.name == "time-min")  // also as people write it here: 2h, 30m
      if (const auto span = base::parse_span(value); span && !base::parse_walltime(value)) value = base::format_walltime(*span);
    const base::GivenOption given{std::string{option.rule.name}, m.path_of(key), value, has_value};
    if (auto done = option.apply(request, given); !done) m.refuse(key, done.error());
  }

  // {size: 8, level: rack} → "8@rack"; the rest in segment_details.
  std::string segment_text(YamlMap& m, std::string_view key, const YamlNode& node) {
    YamlMap s(node, m.path_of(key), faults_);
    s.require("size");
    const auto size = s.text("size").value_or("1");
    const auto level = s.text("level");
    for (const auto* other : {"remainder", "distinct", "consolidate"}) s.child(other);
    s.finish();
    return level ? size + "@" + *level : size;
  }

  void segment_details(YamlMap& m, model::Group& g) {
    const YamlNode* list = m.has("segments") ? m.child("segments") : m.child("segment");
    if (list == nullptr || !list->is_sequence() || list->items.size() != g.segments.size()) return;
    for (std::size_t i = 0; i < list->items.size(); ++i) {
      if (!list->items[i].is_mapping()) continue;
      YamlMap s(list->items[i], fmt::format("{}[{}]", m.path_of("segments"), i), faults_);
      using Remainder = model::Segment::Remainder;
      if (const auto word = s.word("remainder", {"forbid", "shorter", "elastic"}))
        g.segments[i].remainder = *word == "shorter" ? Remainder::shorter : *word == "elastic" ? Remainder::elastic : Remainder::forbid;
      g.segments[i].distinct = s.boolean("distinct").value_or(false);
      g.segments[i].consolidate = s.boolean("consolidate").value_or(false);
    }
  }

  std::string rung_text(YamlMap& m, const YamlNode& node) {
    YamlMap r(node, m.path_of("ladder"), faults_);
    r.require("level");
    auto text = r.text("level").value_or("");
    if (const auto n = r.text("max_domains")) text += "*" + *n;
    if (const auto wait = r.text("wait")) text += "@" + *wait;
    r.finish();
    return text;
  }

  void spread(YamlMap& m, SubmitRequest& request) {
    const SubmitOption& option = *option_of("spread");
    const YamlNode* node = m.child("spread");
    if (node == nullptr) return;
    const auto one = [&](const YamlNode& item) {
      if (item.is_scalar()) return give(m, "spread", option, item.scalar, true, request);
      YamlMap s(item, m.path_of("spread"), faults_);
      s.require("level");
      auto text = s.text("level").value_or("");
      for (const auto* rule : {"max", "share", "min", "skew"})
        if (const auto n = s.text(rule)) text += fmt::format(":{}={}", rule, *n);
      if (const auto mode = s.word("mode", {"require", "prefer"}); mode && *mode == "prefer") text += ":prefer";
      s.finish();
      give(m, "spread", option, text, true, request);
    };
    if (!node->is_sequence()) return one(*node);
    for (const auto& item : node->items) one(item);
  }

  // pack: {prefer, require, ladder, order, fill}: the same wishes in one place.
  void pack(YamlMap& m, SubmitRequest& request) {
    const YamlNode* node = m.child("pack");
    if (node == nullptr) return;
    YamlMap p(*node, m.path_of("pack"), faults_);
    for (const Key& key :
         {Key{"prefer", "near"}, Key{"require", "within"}, Key{"ladder", "ladder"}, Key{"order", "order"}, Key{"fill", "fill"}})
      apply(p, key, request);
    p.finish();
  }

  // "workers@rack", or {target: workers, level: rack, mode: prefer}.
  void affinity(YamlMap& m, std::string_view key, std::vector<model::Affinity>& to) {
    const YamlNode* node = m.child(key);
    if (node == nullptr) return;
    const auto one = [&](const YamlNode& item) {
      model::Affinity a;
      if (item.is_scalar()) {
        const auto at = item.scalar.rfind('@');
        if (at == std::string::npos || at == 0 || at + 1 == item.scalar.size())
          return m.refuse(key, "a group's name and a level belong here", item.scalar, "write workers@rack");
        a.target = item.scalar.substr(0, at);
        a.level = item.scalar.substr(at + 1);
      } else {
        YamlMap map(item, m.path_of(key), faults_);
        map.require("target");
        map.require("level");
        a.target = map.text("target").value_or("");
        a.level = map.text("level").value_or("");
        const auto mode = map.word("mode", {"require", "prefer"});
        a.require = !mode || *mode == "require";
        map.finish();
      }
      to.push_back(std::move(a));
    };
    if (!node->is_sequence()) return one(*node);
    for (const auto& item : node->items) one(item);
  }

  wire::Faults& faults_;
  const SubmitRequest& like_;
};

}  // namespace

bool is_about_a_group(std::string_view option) {
  static constexpr std::array<std::string_view, 3> others{"spread", "tasks-per-node", "share"};
  return std::any_of(group_keys.begin(), group_keys.end(), [&](const Key& k) { return k.option == option; }) ||
         std::find(others.begin(), others.end(), option) != others.end();
}

SpecFile read_spec_file(std::string_view text, SubmitRequest& request, wire::Faults& faults) {
  wire::YamlLimits limits;
  limits.bytes = 4U << 20U;
  limits.nodes = 200'000;
  SpecFile spec;
  const SubmitRequest like = request;
  if (const auto document = wire::read_yaml_document(text, faults, limits)) Reader(faults, like).read(*document, request, spec);
  return spec;
}

base::Result<SpecFile> read_spec_file(std::string_view text, const std::string& file, SubmitRequest& request) {
  wire::Faults faults(file);
  auto spec = read_spec_file(text, request, faults);
  if (!faults.empty()) return base::fail(faults.to_error());
  return spec;
}

}  // namespace sy::cli
