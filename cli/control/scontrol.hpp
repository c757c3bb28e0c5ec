// `scontrol`: show, update and steer in Slurm's words.
#pragma once

#include "cli/command_table.hpp"

namespace sy::cli {

int run_scontrol(Context&, const Words&);

struct ScontrolOptions {
  bool one_line{}, details{}, json{}, quiet{}, all{};
};
// `scontrol show WHAT [NAME…]`; in show.cpp.
int scontrol_show(Context&, const ScontrolOptions&, const Words&);

// Which of these words does `word` begin, at least so many letters of it? Empty: none, or several.
std::string_view match_word(std::string_view word, std::initializer_list<std::string_view> words);

}  // namespace sy::cli
