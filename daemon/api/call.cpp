#include "daemon/api/call.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/option_table.hpp"
#include "http/problem.hpp"

namespace sy::daemon {

void Call::reply_at_once(http::Response response) {
  if (before_reply) std::exchange(before_reply, nullptr)(response);
  if (const Answer answer = std::exchange(answer_, nullptr)) answer(std::move(response));
}

void Call::reply(http::Response response) {
  if (before_reply) std::exchange(before_reply, nullptr)(response);
  const base::Sequence sequence = state().sequence;
  response.headers.emplace_back("X-Switchyard-Sequence", std::to_string(sequence.value));
  controller.ledger().when_committed(sequence,
                                     [self = shared_from_this(), response = std::move(response)](const base::Error* failed) mutable {
                                       self->reply_at_once(failed != nullptr ? http::problem(*failed) : std::move(response));
                                     });
}

void Call::reply_json(std::string body, int status) {
  http::Response response;
  response.status = status;
  response.body = std::move(body);
  reply(std::move(response));
}

void Call::fail(const base::Error& error) {
  http::Response response = http::problem(error);
  if (response.status == 429 || response.status == 503) response.headers.emplace_back("Retry-After", "1");
  reply(std::move(response));
}

base::Result<std::uint64_t> number_parameter(const http::Target& target, std::string_view name, std::uint64_t otherwise, std::uint64_t min,
                                             std::uint64_t max) {
  const std::string* text = target.parameter(name);
  if (text == nullptr) return otherwise;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{} || end != text->data() + text->size() || value < min || value > max)
    return base::fail(base::Error{base::Code::invalid_argument,
                                  "must be a number in its range",
                                  std::string(name),
                                  fmt::format("{} to {}", min, max),
                                  text->substr(0, 40),
                                  {}});
  return value;
}

base::Result<std::vector<std::string>> list_parameter(const http::Target& target, std::string_view name) {
  constexpr std::size_t most = 10'000;
  std::vector<std::string> parts;
  const std::string* text = target.parameter(name);
  if (text == nullptr) return parts;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (comma > 0) parts.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    if (parts.size() > most)
      return base::fail(base::Error{base::Code::invalid_argument, "lists too many", std::string(name), std::to_string(most), {}, {}});
  }
  return parts;
}

base::Result<void> only_parameters(const http::Target& target, const std::vector<std::string>& known) {
  for (const auto& [name, value] : target.query) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string near = base::nearest(name, known);
    std::string all;
    for (const std::string& each : known) all += (all.empty() ? "" : ", ") + each;
    return base::fail(base::Error{base::Code::invalid_argument,
                                  "is not a parameter of this request",
                                  name,
                                  all,
                                  {},
                                  near.empty() ? std::string{} : "did you mean " + near + "?"});
  }
  return {};
}

}  // namespace sy::daemon
