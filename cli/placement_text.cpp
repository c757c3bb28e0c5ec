#include "cli/placement_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/size_text.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"

namespace sy::cli {

namespace {
std::string texts(Json list, std::string_view between) {
  std::string out;
  list.for_each([&](Json text) { out += fmt::format("{}{}", out.empty() ? "" : between, text.text()); });
  return out;
}

std::string counts(Json list) {
  std::string out;
  std::int64_t asked = 0, most = 0;
  list.for_each([&](Json domain) {
    asked = domain["asked"].integer();
    most = std::max(most, domain["offered"].integer());
    out += fmt::format("{}{} {} of {}", out.empty() ? "" : ", ", domain["domain"].text(), domain["offered"].integer(),
                       domain["asked"].integer());
  });
  return most == 0 && !out.empty() ? fmt::format("0 of {}", asked) : out;
}
}  // namespace

std::string causes_text(Json list) {
  std::string text;
  list.for_each(
      [&](Json cause) { text += fmt::format("{}{} {}", text.empty() ? "" : ", ", cause["nodes"].integer(), cause["kind"].text()); });
  return text;
}

std::string placed_summary(Json placed) {
  const auto domains = texts(placed["domains"], ", ");
  const auto used = placed["leaves_used"].integer(), least = placed["leaves_least"].integer();
  auto out = placed["level"].text() == "any" ? std::string{"across the topology"} : fmt::format("{} {}", placed["level"].text(), domains);
  if (used > 0) out += fmt::format(": {} leaf domain{} used, {} the least possible", used, used == 1 ? "" : "s", least);
  return out;
}

std::string beaten_text(Json placed) {
  std::string out;
  placed["beaten"].for_each([&](Json domain) {
    out += fmt::format("{}{} ({} for {})", out.empty() ? "" : ", ", domain["domain"].text(), domain["offered"].integer(),
                       domain["asked"].integer());
  });
  return out;
}

std::vector<std::string> rank_lines(Json placed, std::size_t most) {
  struct Row {
    std::string ranks, node, path, rest;
  };
  std::vector<Row> rows{{"RANKS", "NODE", "PATH", ""}};
  std::size_t left = 0;
  placed["ranks"].for_each([&](Json r) {
    if (rows.size() > most) {
      ++left;
      return;
    }
    const auto first = r["first"].integer(), count = r["count"].integer();
    Row row{count > 1    ? fmt::format("{}-{}", first, first + count - 1)
            : count == 1 ? std::to_string(first)
                         : std::string{"none"},
            std::string(r["node"].text()),
            texts(r["path"], "."),
            {}};
    row.path += (row.path.empty() ? "" : ".") + row.node;
    if (r["segment"].is_number()) row.rest += fmt::format("  segment {}", r["segment"].integer());
    if (!r["group"].text().empty()) row.rest += fmt::format("  {}[{}]", r["group"].text(), r["replica"].integer());
    rows.push_back(std::move(row));
  });
  std::size_t ranks = 0, node = 0, path = 0;
  for (const auto& row : rows) {
    ranks = std::max(ranks, row.ranks.size());
    node = std::max(node, row.node.size());
    path = std::max(path, row.path.size());
  }
  std::vector<std::string> out;
  for (const auto& row : rows) {
    auto line = fmt::format("{:<{}}  {:<{}}  {:<{}}{}", row.ranks, ranks, row.node, node, row.path, path, row.rest);
    line.erase(line.find_last_not_of(' ') + 1);
    out.push_back(std::move(line));
  }
  if (left > 0) out.push_back(fmt::format("and {} more", left));
  return out;
}

std::vector<std::string> rung_lines(Json verdict, const TimeStyle& times) {
  std::vector<std::string> out;
  const auto of_the_whole = causes_text(verdict["causes"]);
  verdict["rungs"].for_each([&](Json rung) {
    auto line = fmt::format("{}: {}", rung["level"].text(), counts(rung["best"]));
    if (const auto causes = causes_text(rung["causes"]); !causes.empty() && causes != of_the_whole) line += "; nodes out: " + causes;
    if (rung["opens_us"].is_number()) line += fmt::format("; opens {}", times.text(rung["opens_us"].integer() / 1'000'000));
    out.push_back(std::move(line));
  });
  return out;
}

std::string wishes_text(Json group, bool switches_count) {
  std::string out;
  const auto add = [&out](const std::string& wish) { out += ", " + wish; };
  const Json pack = group["pack"];
  if (!pack["require"].text().empty()) add(fmt::format("within {}", pack["require"].text()));
  if (!pack["prefer"].text().empty()) add(fmt::format("near {}", pack["prefer"].text()));
  std::string ladder;
  pack["ladder"].for_each([&](Json rung) {
    ladder += fmt::format("{}{}", ladder.empty() ? "" : ", then ", rung["level"].text());
    if (rung["max_domains"].integer(1) > 1) ladder += fmt::format(" (at most {})", rung["max_domains"].integer());
    if (rung["wait_s"].integer() > 0) ladder += fmt::format(" for {}", span_words(rung["wait_s"].integer()));
  });
  if (!ladder.empty()) add("on " + ladder);
  if (const auto most = group["switches"].integer(); most > 0)
    add(fmt::format("on at most {} switch{}{}", most, most == 1 ? "" : "es",
                    switches_count ? "" : " (no effect: the topology is no tree of switches)"));
  group["segments"].for_each([&](Json s) {
    std::string sizes;
    s["sizes"].for_each([&](Json n) { sizes += fmt::format("{}{}", sizes.empty() ? "" : "+", n.integer()); });
    add(fmt::format("segments of {}{}{}", sizes.empty() ? std::to_string(s["size"].integer()) : sizes,
                    s["level"].text().empty() ? "" : " in a ", s["level"].text()));
  });
  group["spread"].for_each([&](Json s) {
    std::string how;
    if (s["max_per_domain"].is_number()) how = fmt::format(", at most {} in each", s["max_per_domain"].integer());
    if (s["max_share"].is_number()) how = fmt::format(", at most {} % in each", s["max_share"].integer());
    if (s["min_domains"].is_number()) how = fmt::format(", at least {}", s["min_domains"].integer());
    add(fmt::format("spread over {}s{}", s["level"].text(), how));
  });
  if (!group["exclusive_level"].text().empty()) add(fmt::format("a {} to itself", group["exclusive_level"].text()));
  if (group["contiguous"].boolean()) add("adjacent nodes");
  for (const auto& [member, not_there] : {std::pair{"affinity", ""}, std::pair{"anti_affinity", "not "}})
    group[member].for_each([&](Json a) {
      add(fmt::format("{}{}in the {} of {}", a["require"].boolean(true) ? "" : "preferably ", not_there, a["level"].text(),
                      a["target"].text()));
    });
  return out;
}

namespace {

std::string number_of(std::int64_t n, std::string_view what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

std::string asked_by(Json group) {
  std::vector<std::string> parts;
  const Json nodes = group["nodes"], tasks = group["tasks"];
  const auto min = nodes["min"].integer(1), max = nodes["max"].integer(min);
  if (nodes || !tasks) parts.push_back(max > min ? fmt::format("{}-{} nodes", min, max) : number_of(min, "node"));
  if (tasks) parts.push_back(number_of(tasks.integer(), "task"));
  if (const auto n = group["tasks_per_node"].integer(); n > 0) parts.push_back(fmt::format("{} a node", number_of(n, "task")));
  if (const auto n = group["min_tasks"].integer(); n > 0) parts.push_back(fmt::format("at least {}", number_of(n, "task")));
  const auto cpus = group["cpus_per_task"].number(1);
  parts.push_back(fmt::format("{:g} CPU{} a task", cpus, cpus == 1 ? "" : "s"));
  if (const Json m = group["memory_per_node_mib"]; m.is_number())
    parts.push_back(m.integer() == 0 ? "all memory" : fmt::format("{} memory a node", base::format_memory(base::Mebibytes{m.integer()})));
  if (const Json m = group["memory_per_cpu_mib"]; m.is_number())
    parts.push_back(fmt::format("{} memory a CPU", base::format_memory(base::Mebibytes{m.integer()})));
  for (const auto& [member, whose] :
       {std::pair{"gres_per_node", "a node"}, std::pair{"gres_per_task", "a task"}, std::pair{"gres_per_job", "in all"}})
    group[member].for_each([&](Json g) {
      parts.push_back(fmt::format("{}{}{}:{} {}", g["name"].text(), g["type"].text().empty() ? "" : ":", g["type"].text(),
                                  g["count"].integer(1), whose));
    });
  if (group["sharing"].text() == "exclusive_node") parts.emplace_back("whole nodes");
  for (const auto& [member, words] : {std::pair{"constraint", "features"}, std::pair{"nodelist", "on"}, std::pair{"exclude", "not on"}})
    if (!group[member].text().empty()) parts.push_back(fmt::format("{} {}", words, group[member].text()));
  return join(parts, ", ");
}

void lines_of(Json group, const std::string& around, bool switches_count, std::vector<std::string>& out) {
  std::size_t number = 0;
  group["children"].for_each([&](Json child) {
    const std::string_view name = child["name"].text();
    const auto path = around + (name.empty() ? fmt::format("[{}]", number) : std::string(name));
    ++number;
    std::vector<std::string> parts;
    if (const auto n = child["replicas"].integer(1); n > 1) {
      parts.push_back(fmt::format("{} copies", n));
      if (const auto least = child["min_replicas"].integer(); least > 0 && least < n) parts.back() += fmt::format(" (at least {})", least);
    }
    if (child["children"].size() == 0) parts.push_back(asked_by(child));
    auto line = join(parts, ", ");
    if (const auto wishes = wishes_text(child, switches_count); !wishes.empty()) line += line.empty() ? wishes.substr(2) : wishes;
    if (!line.empty()) out.push_back(fmt::format("{}: {}", path, line));
    lines_of(child, path + ".", switches_count, out);
  });
}

}  // namespace

std::vector<std::string> group_lines(Json group, bool switches_count, std::size_t most) {
  std::vector<std::string> out;
  lines_of(group, {}, switches_count, out);
  if (out.size() > most) {
    const auto left = out.size() - most;
    out.resize(most);
    out.push_back(fmt::format("and {} more", left));
  }
  return out;
}

}  // namespace sy::cli
