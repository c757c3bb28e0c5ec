#include "cli/table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/control_characters.hpp"

namespace sy::cli {

namespace {

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

// At most so many characters, the last one "…" when something is missing.
std::string cut(const std::string& text, std::size_t most) {
  if (characters(text) <= most) return text;
  std::size_t n = 0, i = 0;
  while (i < text.size() && n + 1 < most) {
    ++i;
    while (i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U) ++i;
    ++n;
  }
  return text.substr(0, i) + "…";
}

}  // namespace

std::string painted(const Output& out, Colour colour, std::string_view text) {
  if (!out.tty() || colour == Colour::plain) return std::string{text};
  static constexpr std::string_view codes[] = {"0", "32", "33", "31", "2", "1"};
  return fmt::format("\x1b[{}m{}\x1b[0m", codes[static_cast<std::size_t>(colour)], text);
}

Colour state_colour(std::string_view state) {
  if (state == "RUNNING" || state == "COMPLETED" || state == "idle") return Colour::good;
  if (state == "PENDING" || state == "mixed" || state == "allocated" || state == "COMPLETING" || state == "CONFIGURING")
    return Colour::busy;
  return Colour::bad;
}

std::string span_words(std::int64_t s) {
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min", s / 60);
  if (s < 86'400) return s % 3600 / 60 == 0 ? fmt::format("{} h", s / 3600) : fmt::format("{} h {} min", s / 3600, s % 3600 / 60);
  return s % 86'400 / 3600 == 0 ? fmt::format("{} d", s / 86'400) : fmt::format("{} d {} h", s / 86'400, s % 86'400 / 3600);
}

void Table::print(Output& out) {
  for (auto& row : rows)
    for (auto& cell : row)
      if (base::find_control(cell.text) != std::string::npos) cell.text = base::show_control(cell.text);
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < headers.size(); ++c) {
    std::size_t width = characters(headers[c]);
    for (const auto& row : rows) width = std::max(width, characters(row[c].text));
    widths.push_back(width);
  }
  std::size_t total = widths.empty() ? 0 : 2 * (widths.size() - 1);
  for (const auto width : widths) total += width;
  if (const auto room = static_cast<std::size_t>(out.width()); out.tty() && total > room) {
    const std::size_t over = total - room;
    widths[elastic] = widths[elastic] > over + 8 ? widths[elastic] - over : std::min<std::size_t>(widths[elastic], 8);
  }
  const auto print_row = [&](const std::vector<Cell>& row) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string text = cut(row[c].text, widths[c]);
      line += painted(out, row[c].colour, text);
      if (c + 1 < row.size()) line.append(widths[c] - characters(text) + 2, ' ');
    }
    out.line(line);
  };
  std::vector<Cell> head;
  for (const auto& header : headers) head.push_back({header, Colour::bold});
  print_row(head);
  for (const auto& row : rows) print_row(row);
}

}  // namespace sy::cli
