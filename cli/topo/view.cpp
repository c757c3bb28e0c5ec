// `sy topo` and `sy topo show`: the topology in force with what its nodes do, from the API; or a file's, without.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/hostlist.hpp"
#include "base/option_table.hpp"
#include "cli/api.hpp"
#include "cli/json_writer.hpp"
#include "cli/text.hpp"
#include "cli/topo/topo.hpp"
#include "cli/topo/topology_input.hpp"
#include "cli/topo/topology_view.hpp"

namespace sy::cli {
namespace {

using Argument = base::OptionRule::Argument;
constexpr std::array<base::OptionRule, 6> rules{{{"all", 'a', Argument::none, {}},
                                                 {"json", 0, Argument::none, {}},
                                                 {"topology", 0, Argument::required, {}},
                                                 {"topology-name", 0, Argument::required, {}},
                                                 {"busy", 0, Argument::required, {}},
                                                 {"down", 0, Argument::required, {}}}};
constexpr std::string_view help_text =
    R"(Usage: sy topo [NAME] [--all] [--json]
       sy topo show DOMAIN [--topology-name NAME] [--json]
Free, busy, drained and down nodes per domain; without a name, of the default partition's topology. DOMAIN is looked for in all topologies. Equal neighbours share a line; --all draws every one.
--topology FILE [--busy HOSTLIST] [--down HOSTLIST]: draws a file instead, without a daemon.
)";

struct Picture {
  model::Topology topology;
  std::vector<std::string> names;
  std::vector<NodeUse> uses;
  std::vector<base::NodeIndex> kept;   // idle, and busy to others: in a domain that a job has for itself
};

NodeUse use_of(std::string_view state) {
  if (state == "idle") return NodeUse::free;
  if (state == "mixed" || state == "allocated") return NodeUse::busy;
  if (state == "drained" || state == "draining") return NodeUse::drained;
  return NodeUse::down;
}

std::optional<Picture> from_file(Context& context, const TopoOptions& options) {
  auto input = load_topology(context, {options.value("topology"), {}, options.value("topology-name"), {}, false, true});
  if (!input) return std::nullopt;
  if (input->imported.topologies.empty())
    return print_error(context, {base::Code::invalid_argument, "the file gives level names only", {}, {}, {}, {}}), std::nullopt;
  Picture p{std::move(input->imported.topologies[input->imported.cluster_default]), std::move(input->names), {}, {}};
  p.uses.assign(p.names.size(), NodeUse::free);
  std::unordered_map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < p.names.size(); ++i) index.emplace(p.names[i], i);
  for (const auto& [option, use] : {std::pair{"busy", NodeUse::busy}, std::pair{"down", NodeUse::down}}) {
    const auto listed = base::expand_hostlist(options.value(option));
    if (!listed) return print_error(context, listed.error()), std::nullopt;
    for (const auto& n : *listed) {
      const auto found = index.find(n);
      if (found == index.end())
        return print_error(context, {base::Code::not_found, "the topology has no such node", fmt::format("--{}", option), {}, n, {}}),
               std::nullopt;
      p.uses[found->second] = use;
    }
  }
  return p;
}

std::optional<Picture> from_controller(Context& context, const std::string& name, const std::string& domain) {
  auto in_force = fetch_topology(context, name, domain);
  if (!in_force) return print_error(context, in_force.error()), std::nullopt;
  const auto nodes = call(context, get("/v1/nodes"));
  if (!nodes) return print_error(context, nodes.error()), std::nullopt;
  Picture p{std::move(in_force->topology), std::move(in_force->names), {}, {}};
  std::unordered_map<std::string, NodeUse> state;
  nodes->root()["nodes"].for_each([&](Json n) { state.emplace(std::string(n["name"].text()), use_of(n["state"].text())); });
  for (const auto& n : p.names) {
    const auto found = state.find(n);
    p.uses.push_back(found == state.end() ? NodeUse::down : found->second);
  }
  const auto use = call(context, get(fmt::format("/v1/topologies/{}/use", url_encode(p.topology.name))));
  if (!use) return print_error(context, use.error()), std::nullopt;
  const auto kept = base::expand_hostlist(use->root()["kept"].text());
  for (std::uint32_t i = 0; i < p.names.size() && kept && !kept->empty(); ++i)
    if (p.uses[i] == NodeUse::free && std::find(kept->begin(), kept->end(), p.names[i]) != kept->end()) {
      p.uses[i] = NodeUse::busy;
      p.kept.push_back(base::NodeIndex{i});
    }
  return p;
}

std::optional<Picture> picture(Context& context, const TopoOptions& options, const std::string& name, const std::string& domain = {}) {
  return options.has("topology") ? from_file(context, options) : from_controller(context, name, domain);
}

std::string hostlist(const Picture& p, const std::vector<base::NodeIndex>& nodes) {
  std::vector<std::string> words;
  for (const auto n : nodes) words.push_back(p.names.at(n.value));
  return base::fold_hostlist(std::move(words));
}

void add_domain(JsonWriter& w, const Picture& p, const std::vector<DomainUse>& uses, std::uint32_t d) {
  const auto& domain = p.topology.domains[d];
  w.object().member("name", domain.name).member("level", p.topology.levels[domain.level].name).member("path", domain_path(p.topology, d));
  w.member("nodes", hostlist(p, domain.nodes)).member("node_count", uses[d].nodes).member("free", uses[d].free);
  w.member("busy", uses[d].busy).member("drained", uses[d].drained).member("down", uses[d].down).close();
}

std::vector<base::NodeIndex> nodes_below(const model::Topology& t, std::uint32_t d) {
  auto out = t.domains[d].nodes;
  for (const auto c : t.domains[d].children) {
    const auto more = nodes_below(t, c);
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

std::string title(const model::Topology& t, std::size_t nodes) {
  std::vector<std::string> levels;
  for (const auto& l : t.levels) levels.push_back(l.name);
  auto out = fmt::format("{}: {}", t.name.empty() ? "topology" : t.name,
                         t.kind == model::Topology::Kind::tree    ? "tree"
                         : t.kind == model::Topology::Kind::block ? "block"
                                                                  : "flat");
  if (!levels.empty()) out += fmt::format(", {}", fmt::join(levels, " > "));
  out += fmt::format(", {} nodes", nodes);
  if (!t.block_sizes.empty()) out += fmt::format(", block sizes {}", fmt::join(t.block_sizes, ","));
  return t.joined ? out : out + ", not joined: no job spans its roots";
}

}  // namespace

int run_topo_view(Context& context, const Words& words) {
  int exit_code = 0;
  const auto options = read_topo_options(context, words, rules, help_text, exit_code);
  if (!options) return exit_code;
  if (options->rest.size() > 1)
    return print_error(context, {base::Code::invalid_argument,
                                 "one topology's name at most belongs here",
                                 {},
                                 {},
                                 options->rest[1],
                                 "sy topo --help lists the subcommands"});
  const auto p = picture(context, *options, options->rest.empty() ? options->value("topology-name") : options->rest[0]);
  if (!p) return 1;
  const auto uses = count_uses(p->topology, p->uses);
  if (options->has("json")) {
    JsonWriter w;
    w.object().member("name", p->topology.name).name("domains").array();
    for (std::uint32_t d = 0; d < p->topology.domains.size(); ++d) add_domain(w, *p, uses, d);
    w.close().close();
    context.out.line(w.text());
    return 0;
  }
  for (const auto& line : fold_words(title(p->topology, p->names.size()), context.out.width())) context.out.line(line);
  if (p->topology.domains.empty()) return 0;
  for (const auto& line : draw_topology(p->topology, uses, context.out.width(), !options->has("all"))) context.out.line(line);
  return 0;
}

int run_topo_show(Context& context, const Words& words) {
  int exit_code = 0;
  const auto options = read_topo_options(context, words, rules, help_text, exit_code);
  if (!options) return exit_code;
  if (options->rest.size() != 1)
    return print_error(context, {base::Code::invalid_argument, "one domain's name belongs here", {}, {}, {}, "sy topo show DOMAIN"});
  const auto p = picture(context, *options, options->value("topology-name"), options->rest[0]);
  if (!p) return 1;
  const auto& t = p->topology;
  const auto found = std::find_if(t.domains.begin(), t.domains.end(), [&](const auto& d) { return d.name == options->rest[0]; });
  if (found == t.domains.end()) {
    std::vector<std::string> known;
    for (const auto& d : t.domains) known.push_back(d.name);
    const auto near = base::nearest(options->rest[0], known);
    return print_error(context, {base::Code::not_found,
                                 fmt::format("topology {} has no such domain", t.name),
                                 {},
                                 {},
                                 options->rest[0],
                                 near.empty() ? "sy topo lists them" : fmt::format("did you mean {}?", near)});
  }
  const auto d = static_cast<std::uint32_t>(found - t.domains.begin());
  const auto uses = count_uses(t, p->uses);
  if (options->has("json")) {
    JsonWriter w;
    add_domain(w, *p, uses, d);
    context.out.line(w.text());
    return 0;
  }
  const auto& u = uses[d];
  context.out.line(fmt::format("{} ({})", domain_path(t, d), t.levels[found->level].name));
  context.out.line(fmt::format("nodes    {}: {} free, {} busy, {} drained, {} down", u.nodes, u.free, u.busy, u.drained, u.down));
  std::array<std::vector<base::NodeIndex>, 4> by_use;
  for (const auto n : nodes_below(t, d)) by_use[static_cast<std::size_t>(p->uses.at(n.value))].push_back(n);
  constexpr std::array<std::string_view, 4> labels{"free", "busy", "drained", "down"};
  for (std::size_t i = 0; i < by_use.size(); ++i)
    if (!by_use[i].empty()) context.out.line(fmt::format("{:<8} {}", labels[i], hostlist(*p, by_use[i])));
  std::vector<base::NodeIndex> kept;
  for (const auto n : nodes_below(t, d))
    if (std::find(p->kept.begin(), p->kept.end(), n) != p->kept.end()) kept.push_back(n);
  if (!kept.empty()) context.out.line(fmt::format("kept     {}: idle, for a job that has the domain for itself", hostlist(*p, kept)));
  if (!found->children.empty()) {
    std::vector<std::string> children;
    for (const auto c : found->children) children.push_back(t.domains[c].name);
    context.out.line(fmt::format("children {}", base::fold_hostlist_in_order(children)));
  }
  return 0;
}

}  // namespace sy::cli
