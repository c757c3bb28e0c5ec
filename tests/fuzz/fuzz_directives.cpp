// A batch script: its #SBATCH lines to words, the words through an option table. Words written back in quotes read the same.
#include <array>
#include <string>

#include "base/directives.hpp"
#include "base/option_table.hpp"
#include "fuzz/fuzz.hpp"

using namespace sy::base;

namespace {

constexpr std::array<OptionRule, 8> rules{{
    {"nodes", 'N', OptionRule::Argument::required, {}},
    {"ntasks", 'n', OptionRule::Argument::required, {}},
    {"ntasks-per-node", 0, OptionRule::Argument::required, {}},
    {"tasks-per-node", 0, OptionRule::Argument::required, "ntasks-per-node"},
    {"exclusive", 0, OptionRule::Argument::optional, {}},
    {"hold", 'H', OptionRule::Argument::none, {}},
    {"output", 'o', OptionRule::Argument::required, {}},
    {"time", 't', OptionRule::Argument::required, {}},
}};

std::string quoted(const std::string& word) {
  std::string out = "'";
  for (char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

void sy::fuzz::fuzz_one(std::string_view input) {
  (void)check_script(input);
  const auto read = read_directives(input);
  if (!read) {
    FUZZ_CHECK(!read.error().field.empty());
    return;
  }
  FUZZ_CHECK(!read->components.empty());
  for (const auto& component : read->components)
    for (const DirectiveLine& line : component) {
      FUZZ_CHECK(line.line > 0);
      FUZZ_CHECK(!line.words.empty());
      std::string again;
      for (const std::string& word : line.words) again += quoted(word) + " ";
      const auto words = split_words(again);
      FUZZ_CHECK(words.has_value());
      FUZZ_CHECK(*words == line.words);
      for (const bool stop : {false, true}) {
        const auto options = parse_options(rules, line.words, stop);
        if (!options) continue;
        FUZZ_CHECK(options->options.size() + options->rest.size() <= input.size());
        FUZZ_PLANT(options->options.size() == 3 && options->options[2].name == "hold");
      }
    }
}
