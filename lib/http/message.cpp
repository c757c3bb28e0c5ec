#include "http/message.hpp"

#include <algorithm>
#include <charconv>

namespace sy::http {

namespace {
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Percent-decoding; '+' means a space in queries only.
base::Result<std::string> decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0)
        return base::fail(base::Code::invalid_argument, "a percent sign must be followed by two hexadecimal digits", "target",
                          std::string(text.substr(0, 80)), "write %25 for the sign itself");
      c = static_cast<char>(high * 16 + low);
      i += 2;
    } else if (c == '+' && plus_is_space) {
      c = ' ';
    }
    if (c == '\0') return base::fail(base::Code::invalid_argument, "a NUL byte is not allowed here", "target");
    out += c;
  }
  return out;
}

base::Result<void> decode_query(std::string_view text, Target& into) {
  constexpr std::size_t max_parameters = 64;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    if (into.query.size() == max_parameters)
      return base::fail(base::Error{base::Code::invalid_argument, "too many query parameters", "target", "64", {}, {}});
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto name = decode(pair.substr(0, equals), true);
    if (!name) return base::fail(name.error());
    auto value = decode(pair.substr(std::min(equals + 1, pair.size())), true);
    if (!value) return base::fail(value.error());
    into.query.emplace_back(std::move(*name), std::move(*value));
  }
  return {};
}
}  // namespace

bool same_header(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

const std::string* find_header(const std::vector<Header>& headers, std::string_view name) {
  for (const auto& [key, value] : headers)
    if (same_header(key, name)) return &value;
  return nullptr;
}

std::string_view Request::header(std::string_view name) const {
  const std::string* found = find_header(headers, name);
  return found != nullptr ? std::string_view(*found) : std::string_view{};
}
bool Request::has_header(std::string_view name) const { return find_header(headers, name) != nullptr; }

std::string_view Response::header(std::string_view name) const {
  const std::string* found = find_header(headers, name);
  return found != nullptr ? std::string_view(*found) : std::string_view{};
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 100: return "Continue";
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 411: return "Length Required";
    case 412: return "Precondition Failed";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 422: return "Unprocessable Content";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    default: return "Status";
  }
}

const std::string* Target::parameter(std::string_view name) const {
  for (const auto& [key, value] : query)
    if (key == name) return &value;
  return nullptr;
}

base::Result<Target> parse_target(std::string_view text) {
  constexpr std::size_t max_segments = 32;
  if (text.empty() || text.front() != '/')
    return base::fail(base::Code::invalid_argument, "the target must begin with a slash", "target", std::string(text.substr(0, 80)));
  Target target;
  const std::size_t question = std::min(text.find('?'), text.size());
  std::string_view path = text.substr(1, question - 1);
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (target.segments.size() == max_segments)
      return base::fail(base::Error{base::Code::invalid_argument, "the path has too many parts", "target", "32", {}, {}});
    auto segment = decode(path.substr(0, end), false);
    if (!segment) return base::fail(segment.error());
    target.segments.push_back(std::move(*segment));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  if (auto done = decode_query(text.substr(std::min(question + 1, text.size())), target); !done) return base::fail(done.error());
  return target;
}

std::string encode_component(std::string_view text) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', digits[byte >> 4U], digits[byte & 15U]};
    }
  }
  return out;
}

base::Result<Endpoint> parse_endpoint(std::string_view text) {
  const auto bad = [&](std::string why) {
    return base::fail(base::Code::invalid_argument, std::move(why), "address", std::string(text.substr(0, 200)),
                      "write unix:/path/to/socket, or host:port");
  };
  if (text.starts_with("unix:")) text.remove_prefix(5);
  if (text.starts_with("/")) {
    if (text.size() > 107) return bad("the path of a unix socket has at most 107 characters");
    return Endpoint{std::string(text), {}, 0};
  }
  std::string_view rest = text;
  if (rest.starts_with("http://")) rest.remove_prefix(7);
  while (rest.ends_with('/')) rest.remove_suffix(1);
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return bad("a port is missing");
  std::string_view host = rest.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const std::string_view digits = rest.substr(colon + 1);
  unsigned port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc{} || end != digits.data() + digits.size() || port == 0 || port > 65535)
    return bad("the port must be a number from 1 to 65535");
  return Endpoint{{}, std::string(host), static_cast<std::uint16_t>(port)};
}

std::string to_text(const Endpoint& e) {
  if (!e.path.empty()) return "unix:" + e.path;
  const bool v6 = e.host.find(':') != std::string::npos;
  return (v6 ? "[" + e.host + "]" : e.host) + ":" + std::to_string(e.port);
}

}  // namespace sy::http
