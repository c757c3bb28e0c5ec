// Slurm's two ways to describe a table: letters ("%.18i %9P|%t") and names ("JobID:12,State:|,NodeList:.30"), and the
// printing of cells by them. Not the values: a command brings its fields and renders them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace sy::cli {

struct FieldName {
  std::string_view name;    // "JobID"; case does not matter
  char letter{};            // 'i'; 0: only by name
  std::string_view header;  // "JOBID"
};

struct Column {
  std::size_t field{};  // index in the command's table
  int width{};          // 0: as wide as the value
  bool right{};
  bool fit{};          // '#': at least as wide as the widest value
  std::string suffix;  // printed after the cell as it stands
};

struct Format {
  std::string prefix;  // text before the first cell
  std::vector<Column> columns;
};

// "%[#|.][width]letter[text]…"; "%all" is every letter with '|' between. Unknown letters are refused by name.
base::Result<Format> parse_letters(std::string_view text, std::span<const FieldName> fields);
// "name[:[.][width][text]],…": without width and text a cell is 20 wide; with text alone as wide as its value.
base::Result<Format> parse_names(std::string_view text, std::span<const FieldName> fields);

// For --helpFormat: every letter of -o and every name of -O.
std::string fields_text(std::span<const FieldName> fields);

// Pads or cuts by characters (not bytes), then adds the suffix.
void append_cell(std::string& line, const Column&, std::string_view value);
// The header line, without its end.
std::string header_line(const Format&, std::span<const FieldName> fields);

}  // namespace sy::cli
