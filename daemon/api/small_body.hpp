// Bodies of one flat JSON object with a few members. An empty body counts as {}.
// Not for specs and messages: wire reads those. For .cpp files of daemon/api.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "daemon/api/call.hpp"
#include "wire/json.hpp"
#include "wire/read_members.hpp"

namespace sy::daemon {

// Refuses other members than those named.
base::Result<wire::Json> small_body(const Call&, std::initializer_list<std::string_view> members);
base::Result<bool> flag_of(const wire::Json&, const char* name);                     // absent: false
// A text of 1 to `most` bytes without control characters.
base::Result<std::string> text_of(const wire::Json&, const char* name, std::size_t most, bool required);

}  // namespace sy::daemon
