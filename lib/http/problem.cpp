#include "http/problem.hpp"

#include <fmt/format.h>

#include <array>

namespace sy::http {

namespace {
struct Row {
  base::Code code;
  std::string_view name;
  int status;
};
using base::Code;
constexpr std::array<Row, 12> table{{{Code::invalid_argument, "invalid_argument", 400},
                                     {Code::unauthenticated, "unauthenticated", 401},
                                     {Code::forbidden, "forbidden", 403},
                                     {Code::not_found, "not_found", 404},
                                     {Code::conflict, "conflict", 409},
                                     {Code::precondition, "precondition", 422},
                                     {Code::too_large, "too_large", 413},
                                     {Code::impossible, "impossible", 422},
                                     {Code::too_many, "too_many", 429},
                                     {Code::unsupported, "unsupported", 501},
                                     {Code::unavailable, "unavailable", 503},
                                     {Code::internal, "internal", 500}}};

const Row& row_of(Code code) {
  for (const Row& row : table)
    if (row.code == code) return row;
  return table.back();
}

// Length of the UTF-8 sequence at the front of `s`, 0 when it is none (overlong, surrogate, cut, out of range).
std::size_t utf8_length(std::string_view s) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xC2 && lead <= 0xDF ? 2 : lead >= 0xE0 && lead <= 0xEF ? 3 : lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
  if (length == 0 || s.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  if (lead == 0xE0 && byte(1) < 0xA0) return 0;
  if (lead == 0xED && byte(1) > 0x9F) return 0;
  if (lead == 0xF0 && byte(1) < 0x90) return 0;
  if (lead == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}
}  // namespace

int status_of(Code code) { return row_of(code).status; }
std::string_view code_name(Code code) { return row_of(code).name; }

Code code_from(std::string_view name, int status) {
  for (const Row& row : table)
    if (row.name == name) return row.code;
  for (const Row& row : table)
    if (row.status == status) return row.code;
  return status >= 500 ? Code::unavailable : Code::invalid_argument;
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      text.remove_prefix(1);
      continue;
    }
    const char c = text.front();
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out + '"';
}

Response problem(int status, const base::Error& error) {
  Response response;
  response.status = status;
  response.content_type = "application/problem+json";
  response.body = fmt::format(R"({{"type":"about:blank","title":{},"status":{},"code":{},"detail":{})", json_string(reason_phrase(status)),
                              status, json_string(code_name(error.code)), json_string(error.message));
  const auto member = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) response.body += fmt::format(",\"{}\":{}", name, json_string(value));
  };
  member("field", error.field);
  member("limit", error.limit);
  member("value", error.value);
  member("hint", error.hint);
  response.body += '}';
  return response;
}

Response problem(const base::Error& error) { return problem(status_of(error.code), error); }

}  // namespace sy::http
