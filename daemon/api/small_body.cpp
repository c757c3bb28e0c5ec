#include "daemon/api/small_body.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace sy::daemon {

namespace {
using base::Code;
using base::Error;
}  // namespace

base::Result<wire::Json> small_body(const Call& call, std::initializer_list<std::string_view> members) {
  auto json = wire::parse_json(call.request.body.empty() ? std::string_view{"{}"} : std::string_view{call.request.body});
  if (!json) return base::fail(json.error());
  if (!json->is_object()) return base::fail(Code::invalid_argument, "must be a JSON object", "body");
  for (const auto& [name, value] : json->items())
    if (std::find(members.begin(), members.end(), name) == members.end()) {
      std::string all;
      for (const std::string_view each : members) all += (all.empty() ? "" : ", ") + std::string(each);
      return base::fail(
          Error{Code::invalid_argument, "is not a member of this request", name.substr(0, 80), all.empty() ? "none" : all, {}, {}});
    }
  return json;
}

base::Result<bool> flag_of(const wire::Json& body, const char* name) {
  const auto at = body.find(name);
  if (at == body.end()) return false;
  if (!at->is_boolean()) return base::fail(Code::invalid_argument, "must be true or false", name);
  return at->get<bool>();
}

base::Result<std::string> text_of(const wire::Json& body, const char* name, std::size_t most, bool required) {
  const auto at = body.find(name);
  if (at == body.end() && !required) return std::string{};
  if (at == body.end()) return base::fail(Code::invalid_argument, "is missing", name);
  if (!at->is_string()) return base::fail(Code::invalid_argument, "must be a text", name);
  const auto& text = at->get_ref<const std::string&>();
  if (text.empty() && required) return base::fail(Code::invalid_argument, "must not be empty", name);
  if (text.size() > most)
    return base::fail(Error{Code::too_large, "is too long", name, std::to_string(most) + " bytes", std::to_string(text.size()), {}});
  if (std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
    return base::fail(Code::invalid_argument, "must not hold control characters", name);
  return text;
}

}  // namespace sy::daemon
