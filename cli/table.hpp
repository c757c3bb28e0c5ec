// Tables for people: columns as wide as they must be, cut to the terminal, colours on a terminal only.
// Not Slurm's formats: columns.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/output.hpp"

namespace sy::cli {

enum class Colour : unsigned char { plain, good, busy, bad, faint, bold };

struct Cell {
  std::string text;
  Colour colour{Colour::plain};
};

struct Table {
  std::vector<std::string> headers;
  std::vector<std::vector<Cell>> rows;
  std::size_t elastic{};  // the column that gives way when the terminal is narrow

  void print(Output&);
};

std::string painted(const Output&, Colour, std::string_view text);
Colour state_colour(std::string_view slurm_state);

// "59 min", "2 h 5 min", "3 d 4 h": how long, for people.
std::string span_words(std::int64_t seconds);

}  // namespace sy::cli
