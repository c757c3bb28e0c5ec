// Takes script and environment out of a submission's body, which is nearly all of its bytes, much quicker than a JSON parser makes
// values of them. Only what is plainly well formed ASCII: for anything else it stands aside, and the parser judges the whole body.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sy::daemon {

struct LongTexts {
  std::optional<std::string> script;
  std::optional<std::vector<std::string>> environment;
  std::string rest;   // the body with "" and [] in their places: still to be parsed
};

std::optional<LongTexts> take_out_long_texts(std::string_view body);

}  // namespace sy::daemon
