// The name of the JSON value in signatures, without its cost: json_fwd only.
// Not the library: a .cpp that looks inside a value includes <nlohmann/json.hpp> itself.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace sy::wire {
using Json = nlohmann::json;
}
