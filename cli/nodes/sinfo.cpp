#include "cli/nodes/sinfo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "base/hostlist.hpp"
#include "cli/api.hpp"
#include "cli/command_options.hpp"
#include "cli/filters.hpp"
#include "cli/json_writer.hpp"
#include "cli/nodes/node_fields.hpp"
#include "cli/queue/squeue.hpp"
#include "cli/text.hpp"

namespace sy::cli {

namespace {

using base::Code;
using option::Done;
using option::Given;

constexpr std::string_view usage = "sinfo [options]";
constexpr std::string_view default_format = "%#P %.5a %.10l %.6D %.6t %N";
constexpr std::string_view node_format = "%#N %.6D %#P %6t";
constexpr std::string_view reason_format = "%20E %9u %19H %N";
constexpr std::string_view reason_long_format = "%20E %12U %19H %6t %N";
constexpr std::string_view summary_format = "%#P %.5a %.10l %.16F  %N";
constexpr std::string_view long_format = "%#P %.5a %.10l %.10s %.4r %.8h %.10g %.6D %.11T %.11i %N";
constexpr std::string_view node_long_format = "%#N %.6D %#P %.11T %.4c %.8z %.6m %.8d %.6w %.8f %20E";

struct Query : CommonOptions {
  std::string letters, field_names, partitions, nodes, states, clusters, sort;
  bool no_header{}, by_node{}, reasons{}, summary{}, long_form{}, exact{}, dead{}, responding{}, all{}, helpformat{};
  int iterate_s{};
};

Done hide(Query& q, const Given&) { return q.all = false, Done{}; }
Done format(Query& q, const Given& given) { return q.field_names.clear(), option::keep<&Query::letters>(q, given); }
Done names(Query& q, const Given& given) { return q.letters.clear(), option::keep<&Query::field_names>(q, given); }
Done iterate(Query& q, const Given& given) {
  const auto& v = given.value;
  const auto [end, fault] = std::from_chars(v.data(), v.data() + v.size(), q.iterate_s);
  if (fault != std::errc{} || end != v.data() + v.size() || q.iterate_s < 1)
    return base::fail(base::Error{Code::invalid_argument, "Invalid value for iteration", given.as_written, "seconds, from 1", v, {}});
  return {};
}

// clang-format off
constexpr CommandOption<Query> table[] = {
    {"all", 'a', option::none, option::set<&Query::all>, "", "hidden partitions as well"},
    {"clusters", 'M', option::required, option::keep<&Query::clusters>, "NAME", "this cluster's name, or all"},
    {"dead", 'd', option::none, option::set<&Query::dead>, "", "nodes that do not answer"},
    {"exact", 'e', option::none, option::set<&Query::exact>, "", "nodes with different figures on lines of their own"},
    {"federation", 0, option::none, nullptr, "", ""},
    {"format", 'o', option::required, format, "FORMAT", "columns by letter, as in \"%P %D\""},
    {"Format", 'O', option::required, names, "FIELDS", "columns by name, as in NodeList:20,StateLong"},
    {"future", 'F', option::none, nullptr, "", ""},
    {"helpFormat", 0, option::none, option::set<&Query::helpformat>, "", "the fields of -o and -O"},
    {"hide", 0, option::none, hide, "", "no hidden partitions (the default)"},
    {"iterate", 'i', option::required, iterate, "SECONDS", "again every so often"},
    {"list-reasons", 'R', option::none, option::set<&Query::reasons>, "", "why nodes are down or drained"},
    {"local", 0, option::none, nullptr, "", ""},
    {"long", 'l', option::none, option::set<&Query::long_form>, "", "more columns"},
    {"noconvert", 0, option::none, nullptr, "", ""},
    {"node", 0, option::required, option::add<&Query::nodes>, "", ""},
    {"Node", 'N', option::none, option::set<&Query::by_node>, "", "one line for each node and partition"},
    {"nodes", 'n', option::required, option::add<&Query::nodes>, "NODES", "these nodes"},
    {"noheader", 'h', option::none, option::set<&Query::no_header>, "", "no header line"},
    {"partition", 'p', option::required, option::add<&Query::partitions>, "LIST", "these partitions"},
    {"reservation", 'T', option::none, option::later<Query>, "", ""},
    {"responding", 'r', option::none, option::set<&Query::responding>, "", "nodes that answer"},
    {"sort", 'S', option::required, option::keep<&Query::sort>, "LETTERS", "order, as in P,-t"},
    {"states", 't', option::required, option::add<&Query::states>, "LIST", "nodes in these states"},
    {"state", 0, option::required, option::add<&Query::states>, "", ""},
    {"summarize", 's', option::none, option::set<&Query::summary>, "", "one line for each partition"},
    {"topology", 0, option::required, nullptr, "", ""},
    {"verbose", 'v', option::none, nullptr, "", ""},
    {"yaml", 0, option::optional, option::later<Query>, "", ""},
};
// clang-format on

base::Result<Format> choose_format(Context& context, const Query& q) {
  const auto fields = node_field_names();
  if (!q.field_names.empty()) return parse_names(q.field_names, fields);
  if (!q.letters.empty()) return parse_letters(q.letters, fields);
  if (q.reasons) return parse_letters(q.long_form ? reason_long_format : reason_format, fields);
  if (q.summary) return parse_letters(summary_format, fields);
  if (q.by_node) return parse_letters(q.long_form ? node_long_format : node_format, fields);
  if (q.long_form) return parse_letters(long_format, fields);
  if (auto letters = context.env("SINFO_FORMAT"); letters && !letters->empty()) return parse_letters(*letters, fields);
  return parse_letters(default_format, fields);
}

// Does the node count as being in one of the states asked for?
bool in_states(const std::vector<std::string>& wanted, Json node) {
  if (wanted.empty()) return true;
  const std::string state{node["state"].text()};
  const bool answers = node["contact"].text("up") == "up";
  return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& w) {
    if (w == "all") return true;
    if (w == "drain") return state == "drained" || state == "draining";
    if (w == "no_respond") return !answers;
    if (w == "down") return state == "down" || state == "fenced";
    return w == state;
  });
}

base::Result<std::vector<std::string>> wanted_states(const std::string& list) {
  static const std::map<std::string, std::string> known{{"all", "all"},
                                                        {"alloc", "allocated"},
                                                        {"allocated", "allocated"},
                                                        {"mix", "mixed"},
                                                        {"mixed", "mixed"},
                                                        {"idle", "idle"},
                                                        {"drain", "drain"},
                                                        {"drained", "drained"},
                                                        {"drng", "draining"},
                                                        {"draining", "draining"},
                                                        {"down", "down"},
                                                        {"unk", "unknown"},
                                                        {"unknown", "unknown"},
                                                        {"no_respond", "no_respond"},
                                                        {"comp", "completing"},
                                                        {"completing", "completing"},
                                                        {"fail", "fail"},
                                                        {"failing", "fail"},
                                                        {"maint", "maint"},
                                                        {"resv", "reserved"},
                                                        {"reserved", "reserved"},
                                                        {"planned", "planned"},
                                                        {"err", "error"},
                                                        {"error", "error"},
                                                        {"future", "future"},
                                                        {"power_down", "power_down"},
                                                        {"powered_down", "powered_down"},
                                                        {"powering_down", "powering_down"},
                                                        {"powering_up", "powering_up"},
                                                        {"power_up", "power_up"},
                                                        {"perfctrs", "perfctrs"},
                                                        {"npc", "perfctrs"},
                                                        {"reboot", "reboot"},
                                                        {"blocked", "blocked"},
                                                        {"inval", "inval"},
                                                        {"cloud", "cloud"}};
  std::vector<std::string> wanted;
  for (const auto& word : split_list(list)) {
    const auto found = known.find(lower(word));
    if (found == known.end()) {
      std::vector<std::string> names;
      for (const auto& [name, meaning] : known) names.push_back(name);
      return base::fail(
          base::Error{Code::invalid_argument, fmt::format("Bad state string: \"{}\"", word), "--states", join(names), {}, {}});
    }
    wanted.push_back(found->second);
  }
  return wanted;
}

struct Cluster {
  JsonDocument nodes, partitions;
};

// Only what will be shown is asked for: of thousands of nodes the rest would be most of the work. Empty: everything.
std::string members_needed(const Query& q, const Format& format) {
  if (q.json) return {};
  std::set<std::string> names{"name", "state", "contact"};
  const auto add = [&](const NodeField& field) {
    for (auto& name : split_list(field.needs)) names.insert(std::move(name));
  };
  for (const auto& column : format.columns) add(node_fields()[column.field]);
  for (const auto& field : node_fields())
    if (field.name.letter != 0 && q.sort.find(field.name.letter) != std::string::npos) add(field);
  if (q.reasons) names.insert("reason");
  return join({names.begin(), names.end()});
}

base::Result<Cluster> load(Context& context, const std::string& members) {
  auto partitions = call(context, get("/v1/partitions"));
  if (!partitions) return base::fail(partitions.error());
  auto nodes = call(context, get(members.empty() ? "/v1/nodes" : "/v1/nodes?fields=" + members));
  if (!nodes) return base::fail(nodes.error());
  return Cluster{std::move(*nodes), std::move(*partitions)};
}

struct Selection {
  std::set<std::string> nodes;  // empty: all
  std::vector<std::string> partitions, states;
};

bool selected(const Query& q, const Selection& selection, Json node) {
  if (!selection.nodes.empty() && selection.nodes.count(std::string{node["name"].text()}) == 0) return false;
  if (!in_states(selection.states, node)) return false;
  const bool answers = node["contact"].text("up") == "up";
  if ((q.dead && answers) || (q.responding && !answers)) return false;
  if (q.reasons && node["reason"].text().empty()) return false;
  return true;
}

// Nodes that look alike in all key columns share a line; a node is on it once.
std::vector<NodeGroup> make_groups(const Query& q, const Selection& selection, const Format& format, const Cluster& cluster,
                                   const NodeView& view) {
  using Kind = NodeField::Kind;
  const bool about_partitions = q.by_node || std::any_of(format.columns.begin(), format.columns.end(),
                                                         [](const Column& c) { return node_fields()[c.field].kind == Kind::partition; });
  std::vector<NodeGroup> groups;
  std::map<std::string, std::size_t> by_key;
  std::string key;
  const auto put = [&](Json node, Json partition) {
    NodeGroup one{{}, partition};
    if (node) one.nodes.push_back(node);
    key.clear();
    if (about_partitions) key += fmt::format("{}\x1f", partition["name"].text());
    if (q.by_node) key += fmt::format("{}\x1f", node["name"].text());
    for (const auto& column : format.columns) {
      const auto& field = node_fields()[column.field];
      if (field.kind == Kind::key || field.kind == Kind::partition || (field.kind == Kind::least && q.exact)) {
        field.render(key, one, view);
        key += '\x1f';
      }
    }
    const auto [at, is_new] = by_key.emplace(key, groups.size());
    if (is_new) groups.push_back(std::move(one));
    else if (node) groups[at->second].nodes.push_back(node);
  };

  std::map<std::string_view, Json> by_name;
  cluster.nodes.root()["nodes"].for_each([&](Json node) { by_name.emplace(node["name"].text(), node); });
  std::set<std::string_view> placed;
  cluster.partitions.root()["partitions"].for_each([&](Json partition) {
    const auto& wanted = selection.partitions;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), partition["name"].text()) == wanted.end()) return;
    if (wanted.empty() && !q.all && is_kept_back(partition)) return;
    auto members = base::expand_hostlist(partition["nodes"].text());
    bool any = false;
    if (members)
      for (const auto& name : *members) {
        const auto found = by_name.find(name);
        if (found == by_name.end() || !selected(q, selection, found->second)) continue;
        any = true;
        if (!about_partitions && !placed.insert(found->first).second) continue;
        put(found->second, partition);
      }
    // An empty partition has a line of its own, unless nodes are being chosen.
    if (!any && about_partitions && (!members || members->empty()) && selection.nodes.empty() && selection.states.empty() && !q.by_node &&
        !q.reasons)
      put(Json{}, partition);
  });
  return groups;
}

struct SortKey {
  char letter;
  bool down;
  bool configured;
};  // configured: partitions in the order of the configuration

base::Result<std::vector<SortKey>> sort_keys(std::string_view order) {
  std::vector<SortKey> keys;
  bool down = false, configured = false;
  for (const char c : order) {
    if (c == '-') down = true;
    else if (c == '#') configured = true;
    else if (c == '+') down = false;
    else if (c != ',' && c != ' ') {
      if (std::none_of(node_fields().begin(), node_fields().end(), [c](const NodeField& f) { return f.name.letter == c; }))
        return base::fail(
            base::Error{Code::invalid_argument, fmt::format("Invalid sort specification: {}", c), "--sort", {}, std::string{order}, {}});
      keys.push_back({c, std::exchange(down, false), std::exchange(configured, false)});
    }
  }
  return keys;
}

// Stable, from the last letter to the first: the first letter wins.
void sort_groups(const std::vector<SortKey>& keys, std::vector<NodeGroup>& groups, const NodeView& view) {
  std::map<std::string_view, std::int64_t> place;  // groups were made partition by partition
  for (const auto& g : groups) place.emplace(g.partition["name"].text(), static_cast<std::int64_t>(place.size()));
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
    const bool by_state = key->letter == 't' || key->letter == 'T';
    const auto rank = [&](const NodeGroup& g) -> std::int64_t {
      if (by_state) return g.nodes.empty() ? -1 : node_state_rank(g.nodes.front());
      return place[g.partition["name"].text()];
    };
    const auto text = [&](const NodeGroup& g) {
      std::string cell;
      for (const auto& field : node_fields())
        if (field.name.letter == key->letter) field.render(cell, g, view);
      return cell;
    };
    std::stable_sort(groups.begin(), groups.end(), [&](const NodeGroup& a, const NodeGroup& b) {
      const NodeGroup& low = key->down ? b : a;
      const NodeGroup& high = key->down ? a : b;
      return by_state || key->configured ? rank(low) < rank(high) : base::natural_less(text(low), text(high));
    });
  }
}

void print(Context& context, const Query& q, Format format, const std::vector<NodeGroup>& groups, const NodeView& view) {
  std::vector<std::vector<std::string>> cells;
  for (const auto& group : groups) {
    auto& line = cells.emplace_back();
    for (const auto& column : format.columns) node_fields()[column.field].render(line.emplace_back(), group, view);
  }
  for (std::size_t i = 0; i < format.columns.size(); ++i) {
    auto& column = format.columns[i];
    if (!column.fit) continue;
    std::size_t width = q.no_header ? 0 : node_field_names()[column.field].header.size();
    for (const auto& line : cells) width = std::max(width, line[i].size());
    column.width = std::max(column.width, static_cast<int>(width));
  }
  if (q.long_form && !q.no_header) context.out.line(TimeStyle("%a %b %d %H:%M:%S %Y", view.times.now_s()).text(view.times.now_s()));
  if (!q.no_header) context.out.line(header_line(format, node_field_names()));
  std::string text;
  for (const auto& line : cells) {
    text = format.prefix;
    for (std::size_t i = 0; i < line.size(); ++i) append_cell(text, format.columns[i], line[i]);
    context.out.line(text);
  }
}

std::string to_json(const std::vector<NodeGroup>& groups, const Cluster& cluster, const NodeView& view) {
  JsonWriter w;
  w.object().name("sinfo").array();
  for (const auto& group : groups) {
    const auto cpus = count_cpus(group.nodes);
    std::vector<std::string> names;
    for (const Json node : group.nodes) names.emplace_back(node["name"].text());
    w.object();
    w.name("node").object().name("state").array();
    if (!group.nodes.empty()) w.value(upper(node_state(group.nodes.front(), false)));
    w.close().close();
    w.name("nodes").object().member("total", group.nodes.size()).list("nodes", names).list("hostnames", names).close();
    w.name("cpus")
        .object()
        .member("allocated", cpus.allocated)
        .member("idle", cpus.idle)
        .member("other", cpus.other)
        .member("total", cpus.total)
        .close();
    w.name("partition").object().member("name", group.partition["name"].text()).close();
    w.close();
  }
  w.close().name("nodes").array();
  cluster.nodes.root()["nodes"].for_each([&](Json node) {
    w.object().member("name", node["name"].text()).member("hostname", node["name"].text()).member("address", node["address"].text());
    w.name("state").array().value(upper(node_state(node, false))).close();
    const auto cpus = count_cpus({node});
    w.member("cpus", cpus.total).member("alloc_cpus", cpus.allocated).member("idle_cpus", cpus.idle);
    w.member("real_memory", node["memory_mib"].integer()).member("alloc_memory", node["memory_held_mib"].integer());
    w.member("weight", node["weight"].integer(1))
        .member("gres", node["gres_text"].text())
        .member("gres_used", node["gres_used_text"].text());
    w.member("reason", node["reason"].text());
    for (const auto* member : {"features", "partitions"}) {
      std::vector<std::string> list;
      node[member].for_each([&](Json v) { list.emplace_back(v.text()); });
      w.list(member, list);
    }
    w.close();
  });
  w.close();
  write_meta(w, "sinfo", view.cluster);
  w.close();
  return w.take();
}

int complain(Context& context, std::string_view what) {
  context.err.line(fmt::format("sinfo: error: {}", what));
  return 1;
}

int print_once(Context& context, const Query& q, const Selection& selection, const std::vector<SortKey>& keys, const Format& format,
               const NodeView& view) {
  auto cluster = load(context, members_needed(q, format));
  if (!cluster) {
    context.err.line(fmt::format("slurm_load_partitions: {}", slurm_contact_text(cluster.error())));
    return 1;
  }
  auto groups = make_groups(q, selection, format, *cluster, view);
  sort_groups(keys, groups, view);
  if (q.json) context.out.line(to_json(groups, *cluster, view));
  else print(context, q, format, groups, view);
  return 0;
}

}  // namespace

int run_sinfo(Context& context, const Words& words) {
  Query q;
  auto operands = read_options<Query>(table, words, q);
  if (!operands) return complain(context, base::to_text(operands.error()));
  if (auto code = answer_common<Query>(context, table, q, usage)) return *code;
  if (!operands->empty()) return complain(context, fmt::format("Unrecognized option: {}", operands->front()));
  if (q.helpformat) return context.out << fields_text(node_field_names()), 0;
  if (context.env("SINFO_ALL")) q.all = true;
  auto format = choose_format(context, q);
  if (!format) return complain(context, base::to_text(format.error()));
  const auto keys = sort_keys(!q.sort.empty() ? std::string_view{q.sort} : q.by_node ? "N" : "#P,-t");
  if (!keys) return complain(context, base::to_text(keys.error()));
  Selection selection;
  if (q.partitions.empty()) q.partitions = context.env("SINFO_PARTITION").value_or("");
  selection.partitions = split_list(q.partitions);
  auto states = wanted_states(q.states);
  if (!states) return complain(context, base::to_text(states.error()));
  selection.states = std::move(*states);
  if (!q.nodes.empty()) {
    auto nodes = base::expand_hostlist(q.nodes);
    if (!nodes) return complain(context, base::to_text(nodes.error()));
    selection.nodes.insert(nodes->begin(), nodes->end());
  }
  NodeView view{TimeStyle::of(context), {}};
  auto named = this_cluster(context, q.clusters);
  if (!named && named.error().code == base::Code::not_found) return complain(context, named.error().message);
  if (!named) return context.err.line(fmt::format("slurm_load_partitions: {}", slurm_contact_text(named.error()))), 1;
  view.cluster = std::move(*named);
  const bool shows_cluster = std::any_of(format->columns.begin(), format->columns.end(),
                                         [](const Column& c) { return node_fields()[c.field].name.letter == 'V'; });
  if (view.cluster.empty() && (q.json || shows_cluster)) {
    auto config = call(context, get("/v1/config"));
    if (config) view.cluster = config->root()["cluster_name"].text();
  }
  while (true) {
    const int code = print_once(context, q, selection, *keys, *format, view);
    if (q.iterate_s == 0) return code;
    context.out.line("");
    if (!context.out.flush()) return 1;
    context.sleep_ms(q.iterate_s * 1000);
  }
}

}  // namespace sy::cli
