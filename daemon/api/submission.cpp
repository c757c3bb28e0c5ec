#include "daemon/api/submission.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/directives.hpp"
#include "base/option_table.hpp"
#include "daemon/api/long_texts.hpp"
#include "daemon/runtime/crypto.hpp"
#include "model/group_tree.hpp"
#include "wire/job_spec_json.hpp"
#include "wire/read_members.hpp"

namespace sy::daemon {

namespace {
using base::Code;
using base::Error;
using wire::Json;

base::Result<std::string> read_script(const Json& body, std::optional<std::string> taken_out) {
  const auto text = body.find("script"), encoded = body.find("script_base64");
  if ((text == body.end()) == (encoded == body.end()))
    return base::fail(Code::invalid_argument, "exactly one of script and script_base64 must be given", "script");
  const auto& value = text != body.end() ? *text : *encoded;
  if (!value.is_string()) return base::fail(Code::invalid_argument, "must be a text", text != body.end() ? "script" : "script_base64");
  std::string script = text != body.end() && taken_out ? std::move(*taken_out) : value.get<std::string>();
  if (text == body.end()) {
    auto decoded = from_base64(script);
    if (!decoded) return base::fail(Code::invalid_argument, "is not base64", "script_base64");
    script = std::move(*decoded);
  }
  if (auto checked = base::check_script(script); !checked) return base::fail(checked.error());
  return script;
}

base::Result<std::vector<std::string>> texts_of(const Json& body) {
  std::vector<std::string> out;
  const auto at = body.find("environment");
  if (at == body.end()) return out;
  if (!at->is_array()) return base::fail(Code::invalid_argument, "must be a list of texts like \"A=b\"", "environment");
  out.reserve(at->size());
  for (std::size_t i = 0; i < at->size(); ++i) {
    if (!(*at)[i].is_string()) return base::fail(Code::invalid_argument, "must be a text like \"A=b\"", fmt::format("environment[{}]", i));
    out.push_back((*at)[i].get<std::string>());
  }
  return out;
}

base::Result<void> check_environment(const std::vector<std::string>& entries) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto place = [&] { return fmt::format("environment[{}]", i); };
    const std::string& text = entries[i];
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return base::fail(Code::invalid_argument, "is not NAME=VALUE", place(), text.substr(0, 80));
    const std::string name = text.substr(0, std::min<std::size_t>(equals, 80));
    if (text.find('\0') != std::string::npos)
      return base::fail(Code::invalid_argument, "holds a NUL byte", place(), name, "leave the variable out");
    if (text.size() > max_environment_entry_bytes)
      return base::fail(Error{Code::too_large, "the variable is too long", place(), fmt::format("{} bytes", max_environment_entry_bytes),
                              fmt::format("{}: {} bytes", name, text.size()), "leave it out, or export less (--export)"});
    bytes += text.size() + 1;
  }
  if (bytes > max_environment_bytes)
    return base::fail(Error{Code::too_large, "the environment is too large", "environment", fmt::format("{} bytes", max_environment_bytes),
                            fmt::format("{} bytes", bytes), "export less: --export=NONE or a list of names"});
  return {};
}
}  // namespace

base::Result<Submission> read_submission(std::string_view text) {
  auto long_texts = take_out_long_texts(text);
  auto body = wire::parse_json(long_texts ? std::string_view{long_texts->rest} : text);
  if (!body && long_texts) {
    long_texts.reset();
    body = wire::parse_json(text);  // for the place of the fault in what was sent
  }
  if (!body) return base::fail(body.error());
  if (!body->is_object()) return base::fail(Code::invalid_argument, "a submission is a JSON object", "body");
  static const std::vector<std::string> known{"spec", "script", "script_base64", "environment", "dry_run"};
  for (const auto& [name, value] : body->items()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string near = base::nearest(name, known);
    return base::fail(Error{Code::invalid_argument,
                            "is not a member of a submission",
                            name,
                            {},
                            {},
                            near.empty() ? std::string{} : "did you mean " + near + "?"});
  }
  Submission out;
  const auto spec = body->find("spec");
  if (spec == body->end()) return base::fail(Code::invalid_argument, "is missing", "spec");
  auto read = wire::job_spec_from_json(*spec);
  if (!read) return base::fail(read.error());
  out.spec = std::move(*read);
  model::join_groups(out.spec);
  auto script = read_script(*body, long_texts ? std::move(long_texts->script) : std::nullopt);
  if (!script) return base::fail(script.error());
  out.script = std::move(*script);
  if (long_texts && long_texts->environment) {
    out.environment = std::move(*long_texts->environment);
  } else {
    auto environment = texts_of(*body);
    if (!environment) return base::fail(environment.error());
    out.environment = std::move(*environment);
  }
  if (auto checked = check_environment(out.environment); !checked) return base::fail(checked.error());
  if (const auto dry = body->find("dry_run"); dry != body->end()) {
    if (!dry->is_boolean()) return base::fail(Code::invalid_argument, "must be true or false", "dry_run");
    out.dry_run = dry->get<bool>();
  }
  return out;
}

}  // namespace sy::daemon
