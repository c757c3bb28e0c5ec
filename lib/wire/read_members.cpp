#include "wire/read_members.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/option_table.hpp"

namespace sy::wire {

namespace {

constexpr std::size_t max_depth = 32;

std::string shown(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 80) text = text.substr(0, 77) + "...";
  return text;
}

}  // namespace

void ReadContext::fail(std::string message, std::string limit, std::string value, std::string hint) {
  if (failed_) return;
  failed_ = true;
  std::string field = path_.empty() ? "the request" : path_;
  error_ = base::Error{
      base::Code::invalid_argument, field + " " + std::move(message), field, std::move(limit), std::move(value), std::move(hint)};
}

void ReadContext::fail_not_yet() {
  if (failed_) return;
  fail("is known, but this release does not carry it out", {}, {}, "leave it out");
  error_.code = base::Code::unsupported;
}

ReadContext::Place ReadContext::enter(std::string_view member) {
  Place place{*this, path_.size()};
  ++depth_;
  if (!path_.empty()) path_ += '.';
  path_ += member;
  return place;
}

ReadContext::Place ReadContext::enter(std::size_t index) {
  Place place{*this, path_.size()};
  ++depth_;
  path_ += fmt::format("[{}]", index);
  return place;
}

bool ReadContext::too_deep() {
  if (depth_ > max_depth) fail("is nested too deep", fmt::format("at most {} levels", max_depth));
  return failed_;
}

bool is_null(const Json& json) { return json.is_null(); }

std::size_t list_size(const Json& list, const Limit& limit, ReadContext& context) {
  if (!list.is_array()) {
    context.fail("must be a list", {}, shown(list), "write [ … ]");
    return 0;
  }
  if (context.limited() && list.size() > limit.items) {
    context.fail("has too many items", fmt::format("at most {}", limit.items), fmt::format("{}", list.size()));
    return 0;
  }
  return list.size();
}

const Json& list_item(const Json& list, std::size_t index) { return list[index]; }

void read_flag(const Json& json, bool& out, ReadContext& context) {
  if (!json.is_boolean()) return context.fail("must be true or false", {}, shown(json));
  out = json.get<bool>();
}

void read_text(const Json& json, std::string& out, const Limit& limit, ReadContext& context) {
  if (!json.is_string()) return context.fail("must be a text", {}, shown(json), "write it in double quotes");
  const auto& text = json.get_ref<const std::string&>();
  if (context.limited()) {
    if (text.size() > limit.text)
      return context.fail("is too long", fmt::format("at most {} bytes", limit.text), fmt::format("{} bytes", text.size()));
    if (text.find('\0') != std::string::npos) return context.fail("contains a NUL byte", {}, {}, "remove it");
  }
  out = text;
}

void read_digest(const Json& json, base::Digest& out, ReadContext& context) {
  std::string text;
  read_text(json, text, text_limit(64), context);
  const auto digest = base::Digest::from_text(text);
  if (!digest) return context.fail("must be a SHA-256", "64 hexadecimal digits", text.substr(0, 80));
  out = *digest;
}

std::int64_t read_integer(const Json& json, std::int64_t min, std::int64_t max, ReadContext& context) {
  const bool fits =
      json.is_number_unsigned() ? json.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX) : json.is_number_integer();
  const std::int64_t value = fits ? json.get<std::int64_t>() : 0;
  if (!fits || value < min || value > max) {
    context.fail(fmt::format("must be a whole number from {} to {}", min, max), fmt::format("{} to {}", min, max), shown(json));
    return 0;
  }
  return value;
}

std::uint64_t read_unsigned(const Json& json, std::uint64_t max, ReadContext& context) {
  const bool fits = json.is_number_unsigned() || (json.is_number_integer() && json.get<std::int64_t>() >= 0);
  const std::uint64_t value = fits ? json.get<std::uint64_t>() : 0;
  if (!fits || value > max) {
    context.fail(fmt::format("must be a whole number from 0 to {}", max), fmt::format("0 to {}", max), shown(json));
    return 0;
  }
  return value;
}

std::int64_t read_scaled(const Json& json, std::int64_t scale, const Limit& limit, ReadContext& context) {
  const double low = context.limited() ? static_cast<double>(limit.min) / static_cast<double>(scale) : -9.0e15;
  const double high = context.limited() ? static_cast<double>(limit.max) / static_cast<double>(scale) : 9.0e15;
  const double value = json.is_number() ? json.get<double>() : std::nan("");
  const double scaled = value * static_cast<double>(scale);
  if (!(value >= low && value <= high) || std::abs(scaled) > 9.2e18) {
    context.fail(fmt::format("must be a number from {} to {}", low, high), fmt::format("{} to {}", low, high), shown(json));
    return 0;
  }
  if (json.is_number_integer() && std::abs(value) < 9.0e18 / static_cast<double>(scale)) return json.get<std::int64_t>() * scale;
  return std::llround(scaled);
}

void read_node_set(const Json& json, base::NodeSet& out, ReadContext& context) {
  constexpr std::int64_t most = 4'000'000;  // nodes; a bitmap of it is half a megabyte
  const std::size_t n = list_size(json, {.items = 1U << 20U}, context);
  out.clear();
  if (n % 2 != 0) return context.fail("must be pairs of first and count");
  for (std::size_t i = 0; i < n && !context.failed(); i += 2) {
    const auto first = read_integer(json[i], 0, most, context);
    const auto count = read_integer(json[i + 1], 0, most - first, context);
    for (std::int64_t k = 0; k < count; ++k) out.insert(base::NodeIndex{static_cast<std::uint32_t>(first + k)});
  }
}

std::size_t read_enum(const Json& json, const std::string_view* names, std::size_t count, ReadContext& context) {
  if (json.is_string()) {
    const auto& text = json.get_ref<const std::string&>();
    const auto* found = std::find(names, names + count, text);
    if (found != names + count) return static_cast<std::size_t>(found - names);
  }
  context.fail("is not one of the known words", fmt::format("{}", fmt::join(names, names + count, ", ")), shown(json));
  return 0;
}

ObjectMembers::ObjectMembers(const Json& object, ReadContext& context) : context_(context) {
  if (!object.is_object()) {
    context.fail("must be an object", {}, shown(object), "write { … }");
  } else {
    object_ = &object;
  }
}

const Json* ObjectMembers::find(std::string_view name) {
  known_.push_back(name);
  const auto it = object_->find(name);
  if (it == object_->end()) return nullptr;
  ++found_;
  return &*it;
}

void ObjectMembers::not_yet(std::string_view name, std::string_view inside) { not_yet_.emplace_back(name, inside); }

void ObjectMembers::refuse_unknown() {
  if (found_ == object_->size()) return;
  for (const auto& [name, value] : object_->items()) {
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    for (const auto& [later, inside] : not_yet_) {
      if (name != later || (!inside.empty() && !(value.is_object() && value.contains(inside)))) continue;
      const auto place = context_.enter(later);
      if (inside.empty()) return context_.fail_not_yet();
      const auto deeper = context_.enter(inside);
      return context_.fail_not_yet();
    }
    const std::string near = base::nearest(name, {known_.begin(), known_.end()});
    const auto place = context_.enter(std::string_view{name});
    context_.fail("is not known", {}, name, near.empty() ? std::string{} : "did you mean " + near + "?");
    return;
  }
}

base::Result<Json> parse_json(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& e) {
    return base::fail(base::Code::invalid_argument, fmt::format("this is not JSON: fault at byte {}", e.byte), "the body", {},
                      "check the quotes, commas and UTF-8 there");
  } catch (const Json::out_of_range&) {
    return base::fail(base::Code::invalid_argument, "a number is larger than any that can be read", "the body", {},
                      "write numbers of at most 308 digits");
  }
}

}  // namespace sy::wire
