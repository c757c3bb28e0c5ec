#include "cli/topo/topology_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <unordered_map>

#include "cli/api.hpp"
#include "cli/json_writer.hpp"
#include "cli/text.hpp"

namespace sy::cli {

base::Result<std::string> read_whole_file(Context& context, const std::string& path) {
  if (path == "-") return context.read_stdin();
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                             [](std::FILE* f) { return f != nullptr ? std::fclose(f) : 0; });
  if (!file) return base::fail(base::Code::not_found, fmt::format("{} can not be read: {}", path, std::strerror(errno)), {}, {}, {});
  std::string text;
  char buffer[1U << 16U];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, file.get())) > 0;) {
    text.append(buffer, n);
    if (text.size() > max_topology_file)
      return base::fail(base::Error{base::Code::too_large, fmt::format("{} is too large", path), {}, "64 MiB", {}, {}});
  }
  if (std::ferror(file.get()) != 0)
    return base::fail(base::Code::not_found, fmt::format("{} can not be read: {}", path, std::strerror(errno)));
  return text;
}

namespace {

void print_refusal(Context& context, const std::string& text, const std::vector<wire::Fault>& faults) {
  JsonWriter w;
  const auto known = [&](const char* name, const std::string& value) {
    w.name(name);
    if (value.empty()) w.null();
    else w.value(value);
  };
  const auto number = [&](const char* name, std::uint32_t value) {
    w.name(name);
    if (value == 0) w.null();
    else w.value(value);
  };
  w.object().name("verdict").object().member("kind", "refused").member("text", text).close().name("faults").array();
  for (const auto& f : faults) {
    w.object();
    known("file", f.file);
    number("line", f.mark.line);
    number("column", f.mark.column);
    known("field", f.error.field);
    w.member("message", f.error.message);
    known("value", f.error.value);
    known("limit", f.error.limit);
    known("hint", f.error.hint);
    w.close();
  }
  w.close().close();
  context.out.line(w.text());
}

}  // namespace

int print_error(Context& context, const base::Error& error, bool json, const wire::Faults* parts) {
  const bool known = parts != nullptr && !parts->empty();
  if (json) print_refusal(context, to_text(error), known ? parts->list() : std::vector<wire::Fault>{{{}, {}, error}});
  for (const auto& line : split_list(to_text(error), '\n')) context.err.line(fmt::format("{}: error: {}", context.program, line));
  return 1;
}

int print_faults(Context& context, const wire::Faults& faults, bool json) {
  if (json)
    print_refusal(context, faults.count() == 1 ? to_text(faults.list()[0]) : fmt::format("the file has {} faults", faults.count()),
                  faults.list());
  for (const auto& f : faults.list()) context.err.line(to_text(f));
  if (faults.count() > faults.list().size()) context.err.line(fmt::format("and {} more", faults.count() - faults.list().size()));
  return 1;
}

std::optional<TopoOptions> read_topo_options(Context& context, const Words& words, std::span<const base::OptionRule> rules,
                                             std::string_view help, int& exit_code) {
  std::vector<base::OptionRule> all(rules.begin(), rules.end());
  all.push_back({"help", 'h', base::OptionRule::Argument::none, {}});
  all.push_back({"socket", 0, base::OptionRule::Argument::required, {}});
  const auto parsed = base::parse_options(all, words, false);
  exit_code = 1;
  if (!parsed) return print_error(context, parsed.error()), std::nullopt;
  TopoOptions out;
  out.rest = parsed->rest;
  for (const auto& o : parsed->options) out.values[o.name] = o.value;
  if (out.has("socket")) context.socket = out.value("socket");
  if (!out.has("help")) return out;
  exit_code = 0;
  context.out << help;
  return std::nullopt;
}

namespace {

// The cluster's nodes as the import wants them; the map must outlive it.
wire::ClusterNodes cluster_nodes(const std::vector<wire::ClusterFileNode>& nodes,
                                 std::unordered_map<std::string_view, base::NodeIndex>& index) {
  for (std::uint32_t i = 0; i < nodes.size(); ++i) index.emplace(nodes[i].name, base::NodeIndex{i});
  wire::ClusterNodes out;
  out.find = [&index](std::string_view name) -> std::optional<base::NodeIndex> {
    const auto found = index.find(name);
    if (found == index.end()) return std::nullopt;
    return found->second;
  };
  out.all = [&nodes] {
    std::vector<wire::KnownNode> all;
    for (const auto& n : nodes) all.push_back({n.name, n.labels});
    return all;
  };
  return out;
}

}  // namespace

std::optional<TopologyInput> load_topology(Context& context, const TopologyQuestion& question) {
  TopologyInput input;
  input.path = question.path;
  auto text = question.text ? base::Result<std::string>(*question.text) : read_whole_file(context, question.path);
  if (!text) return print_error(context, text.error(), question.json), std::nullopt;
  input.text = std::move(*text);

  std::unordered_map<std::string_view, base::NodeIndex> index;
  wire::ClusterNodes nodes;
  if (!question.cluster_path.empty()) {
    const auto cluster = read_whole_file(context, question.cluster_path);
    if (!cluster) return print_error(context, cluster.error(), question.json), std::nullopt;
    wire::Faults faults(question.cluster_path);
    input.cluster = wire::read_cluster_file(*cluster, faults);
    if (!faults.empty()) return print_faults(context, faults, question.json), std::nullopt;
    nodes = cluster_nodes(input.cluster, index);
  }
  wire::Faults faults(question.path);
  wire::ImportRequest request;
  request.text = input.text;
  request.format = question.format;
  request.topology = question.topology;
  request.skip_unknown_nodes = question.skip_unknown_nodes;
  auto imported = wire::import_topologies(request, nodes, faults);
  if (!imported) return print_faults(context, faults, question.json), std::nullopt;
  input.imported = std::move(*imported);
  if (question.cluster_path.empty()) {
    input.names = input.imported.node_names;
  } else {
    for (const auto& n : input.cluster) input.names.push_back(n.name);
  }
  if (!question.quiet)
    for (const auto& line : wire::report_lines(input.imported.report, question.path)) context.err.line("warning: " + line);
  return input;
}

base::Result<std::string> name_in_force(Context& context, const std::string& given, const std::string& domain) {
  if (!given.empty()) return given;
  const auto list = call(context, get("/v1/topologies"));
  if (!list) return base::fail(list.error());
  std::vector<std::string> names, having, domains;
  list->root()["topologies"].for_each([&](Json t) {
    names.emplace_back(t["name"].text());
    if (domain.empty()) return;
    t["domains"].for_each([&](Json d) {
      domains.emplace_back(d["name"].text());
      if (domains.back() == domain && (having.empty() || having.back() != names.back())) having.push_back(names.back());
    });
  });
  if (names.empty()) return base::fail(base::Code::not_found, "no topology has been imported", {}, {}, "import one: sy topo import FILE");
  std::string usual{list->root()["usual"].text(names.front())};
  if (having.size() == 1) return having.front();
  if (!domain.empty() && having.empty()) {
    const auto near = base::nearest(domain, domains);
    return base::fail(base::Error{base::Code::not_found,
                                  "no topology in force has such a domain",
                                  {},
                                  join(names, ", "),
                                  domain,
                                  near.empty() ? "sy topo NAME lists them" : fmt::format("did you mean {}?", near)});
  }
  if (!having.empty()) {
    names = having;
    if (std::ranges::find(having, usual) == having.end()) usual = having.front();
  }
  if (names.size() > 1) {
    std::erase(names, usual);
    context.err.line(fmt::format("note: this is topology {}; {} {} in force too: --topology-name chooses", usual, join(names, ", "),
                                 names.size() == 1 ? "is" : "are"));
  }
  return usual;
}

base::Result<TopologyInForce> fetch_topology(Context& context, const std::string& name, const std::string& domain) {
  const auto found = name_in_force(context, name, domain);
  if (!found) return base::fail(found.error());
  const std::string& wanted = *found;
  // The API's JSON has the members of Switchyard's own YAML, and JSON is YAML.
  const auto text = call_text(context, get("/v1/topologies/" + url_encode(wanted)));
  if (!text) return base::fail(text.error());
  wire::Faults faults("topology " + wanted);
  wire::ImportRequest request;
  request.text = *text;
  request.format = "yaml";
  request.name = wanted;
  auto imported = wire::import_topologies(request, {}, faults);
  if (!imported) return base::fail(faults.to_error());
  TopologyInForce out;
  out.topology = std::move(imported->topologies.at(0));
  out.names = std::move(imported->node_names);
  return out;
}

}  // namespace sy::cli
