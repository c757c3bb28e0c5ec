#include "cli/columns.hpp"

#include <fmt/format.h>

#include "base/control_characters.hpp"
#include "base/option_table.hpp"
#include "cli/text.hpp"

namespace sy::cli {

namespace {

constexpr int widest = 65'536;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Reads "[#][.|-][digits]"; moves past it.
void read_width(std::string_view text, std::size_t& at, Column& column) {
  for (; at < text.size() && (text[at] == '.' || text[at] == '#' || text[at] == '-'); ++at) {
    if (text[at] == '.') column.right = true;
    if (text[at] == '#') column.fit = true;
  }
  for (; at < text.size() && is_digit(text[at]); ++at)
    if (column.width < widest) column.width = column.width * 10 + (text[at] - '0');
}

Format all_letters(std::span<const FieldName> fields) {
  Format format;
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (fields[i].letter != 0) format.columns.push_back({i, 0, false, false, "|"});
  if (!format.columns.empty()) format.columns.back().suffix.clear();
  return format;
}

// Characters of UTF-8 text: continuation bytes do not count.
std::size_t characters(std::string_view text) {
  std::size_t n = 0;
  for (const char c : text) n += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
  return n;
}

std::string_view first_characters(std::string_view text, std::size_t most) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U && n++ == most) return text.substr(0, i);
  return text;
}

}  // namespace

base::Result<Format> parse_letters(std::string_view text, std::span<const FieldName> fields) {
  Format format;
  if (const auto at = text.find("%all"); at != std::string_view::npos && (at + 4 == text.size() || !is_letter(text[at + 4])))
    return all_letters(fields);
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '%' || (at + 1 < text.size() && text[at + 1] == '%')) {
      (format.columns.empty() ? format.prefix : format.columns.back().suffix) += text[at];
      at += text[at] == '%' ? 2 : 1;
      continue;
    }
    Column column;
    ++at;
    read_width(text, at, column);
    if (at == text.size())
      return base::fail(base::Error{
          base::Code::invalid_argument, "the format ends where a field's letter should be", "--format", {}, std::string{text}, {}});
    const char letter = text[at++];
    std::size_t i = 0;
    while (i < fields.size() && fields[i].letter != letter) ++i;
    if (i == fields.size()) {
      std::string known;
      for (const auto& field : fields)
        if (field.letter != 0) known += field.letter;
      return base::fail(
          base::Error{base::Code::invalid_argument, fmt::format("Invalid format specification: %{}", letter), "--format", known, {}, {}});
    }
    column.field = i;
    format.columns.push_back(std::move(column));
  }
  return format;
}

base::Result<Format> parse_names(std::string_view text, std::span<const FieldName> fields) {
  Format format;
  // Commas separate, and one at the end of a field's own text belongs to it ("JobID:,,State").
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find_first_of(":,", at), text.size());
    const std::string name = lower(trim(text.substr(at, end - at)));
    at = end;
    Column column;
    if (at < text.size() && text[at] == ':') {
      read_width(text, ++at, column);
      const std::size_t begin = at;
      if (at < text.size() && text[at] == ',' && at + 1 < text.size() && text[at + 1] == ',') ++at;
      at = std::min(text.find(',', at), text.size());
      column.suffix = text.substr(begin, at - begin);
      if (column.suffix.empty() && column.width == 0) column.width = 20;
    } else {
      column.width = 20;
    }
    ++at;
    if (name.empty()) continue;
    if (name == "all") {
      for (std::size_t i = 0; i < fields.size(); ++i) format.columns.push_back({i, column.width, column.right, false, column.suffix});
      continue;
    }
    std::size_t i = 0;
    while (i < fields.size() && lower(fields[i].name) != name) ++i;
    if (i == fields.size()) {
      std::vector<std::string> known;
      for (const auto& field : fields) known.push_back(lower(field.name));
      const std::string near = base::nearest(name, known);
      return base::fail(base::Error{base::Code::invalid_argument,
                                    fmt::format("Invalid field requested: \"{}\"", name),
                                    {},
                                    {},
                                    {},
                                    near.empty() ? std::string{"--helpFormat lists them"} : fmt::format("did you mean {}?", near)});
    }
    column.field = i;
    format.columns.push_back(std::move(column));
  }
  return format;
}

std::string fields_text(std::span<const FieldName> fields) {
  std::string text = "Letters of --format (-o), each with the name it has in --Format (-O):\n";
  for (const auto& field : fields)
    if (field.letter != 0) text += fmt::format("  %{} {}\n", field.letter, field.name);
  text += "Names of --Format alone:\n";
  for (const auto& field : fields)
    if (field.letter == 0) text += fmt::format("     {}\n", field.name);
  return text;
}

void append_cell(std::string& line, const Column& column, std::string_view value) {
  // A row stays a row whatever the value holds.
  if (base::find_control(value) != std::string_view::npos) return append_cell(line, column, base::show_control(value));
  if (column.width > 0) {
    const auto width = static_cast<std::size_t>(column.width);
    std::size_t n = value.size() <= width ? characters(value) : width + 1;
    if (value.size() > width && !column.fit) {
      value = first_characters(value, width);
      n = characters(value);
    } else if (value.size() > width) {
      n = characters(value);
    }
    if (column.right && n < width) line.append(width - n, ' ');
    line += value;
    if (!column.right && n < width) line.append(width - n, ' ');
  } else {
    line += value;
  }
  line += column.suffix;
}

std::string header_line(const Format& format, std::span<const FieldName> fields) {
  std::string line = format.prefix;
  for (const auto& column : format.columns) append_cell(line, column, fields[column.field].header);
  return line;
}

}  // namespace sy::cli
