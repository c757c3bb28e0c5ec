#include "cli/placement_text.hpp"

#include <fmt/format.h>

#include <algorithm>

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
  list.for_each([&](Json domain) {
    out += fmt::format("{}{} {} of {}", out.empty() ? "" : ", ", domain["domain"].text(), domain["offered"].integer(),
                       domain["asked"].integer());
  });
  return out;
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
  verdict["rungs"].for_each([&](Json rung) {
    auto line = fmt::format("{}: {}", rung["level"].text(), counts(rung["best"]));
    if (const auto causes = causes_text(rung["causes"]); !causes.empty()) line += "; nodes out: " + causes;
    if (rung["opens_us"].is_number()) line += fmt::format("; opens {}", times.text(rung["opens_us"].integer() / 1'000'000));
    out.push_back(std::move(line));
  });
  return out;
}

}  // namespace sy::cli
