#include "cli/api.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <utility>

namespace sy::cli {

namespace {

using base::Code;

constexpr std::array<std::pair<std::string_view, Code>, 12> codes{{{"invalid_argument", Code::invalid_argument},
                                                                   {"unauthenticated", Code::unauthenticated},
                                                                   {"forbidden", Code::forbidden},
                                                                   {"not_found", Code::not_found},
                                                                   {"conflict", Code::conflict},
                                                                   {"precondition", Code::precondition},
                                                                   {"too_large", Code::too_large},
                                                                   {"impossible", Code::impossible},
                                                                   {"too_many", Code::too_many},
                                                                   {"unsupported", Code::unsupported},
                                                                   {"unavailable", Code::unavailable},
                                                                   {"internal", Code::internal}}};

Code code_of(std::string_view name, int status) {
  for (const auto& [text, code] : codes)
    if (text == name) return code;
  return status == 404 ? Code::not_found : status == 403 ? Code::forbidden : status == 503 ? Code::unavailable : Code::internal;
}

std::string as_text(Json value) {
  return std::string{value.is_string() ? value.text() : value.is_null() ? std::string_view{} : value.raw()};
}

base::Error problem_of(const Response& response) {
  auto read = JsonDocument::parse(response.body);
  if (!read || !read->root().is_object())
    return base::Error{
        code_of({}, response.status), fmt::format("the controller answered {} without saying why", response.status), {}, {}, {}, {}};
  const Json problem = read->root();
  base::Error error;
  error.code = code_of(problem["code"].text(), response.status);
  error.message = as_text(problem["detail"]);
  if (error.message.empty()) error.message = as_text(problem["title"]);
  error.field = as_text(problem["field"]);
  error.limit = as_text(problem["limit"]);
  error.value = as_text(problem["value"]);
  error.hint = as_text(problem["hint"]);
  return error;
}

}  // namespace

base::Result<std::string> call_text(Context& context, Request request) {
  if (!request.body.empty()) request.headers.emplace_back("Content-Type", "application/json");
  auto response = context.transport().send(request);
  if (!response) return base::fail(response.error());
  if (response->status < 200 || response->status > 299) return base::fail(problem_of(*response));
  return std::move(response->body);
}

base::Result<JsonDocument> call(Context& context, Request request) {
  auto text = call_text(context, std::move(request));
  if (!text) return base::fail(text.error());
  if (text->empty()) *text = "null";
  return JsonDocument::parse(std::move(*text));
}

base::Result<JsonDocument> call_again(Context& context, const Request& request) {
  static constexpr std::array<int, 7> pauses_ms{50, 100, 200, 400, 800, 1600, 3200};
  for (std::size_t turn = 0;; ++turn) {
    auto answer = call(context, request);
    if (answer || (answer.error().code != Code::unavailable && answer.error().code != Code::too_many)) return answer;
    // Nobody listening at all is soon believed (the transport tries thrice each turn, and a restart is short); a connection
    // that broke may have carried the request, a controller that starts or slows us down will soon answer.
    const std::size_t turns = answer.error().field == "connect_failed" ? 3 : pauses_ms.size();
    if (turn >= turns) return answer;
    context.sleep_ms(pauses_ms[turn]);
  }
}

base::Result<Pages> get_pages(Context& context, const std::string& path, const std::string& query, std::string_view member) {
  Pages pages;
  std::string after;
  while (true) {
    std::string url = fmt::format("{}?{}{}limit=10000", path, query, query.empty() ? "" : "&");
    if (!after.empty()) url += "&after=" + after;
    auto page = call(context, get(std::move(url)));
    if (!page) return base::fail(page.error());
    pages.documents.push_back(std::move(*page));
    const Json root = pages.documents.back().root();
    root[member].for_each([&](Json row) { pages.rows.push_back(row); });
    if (root["next"].is_null()) return pages;
    const std::string next = as_text(root["next"]);
    if (next == after) return base::fail(Code::internal, "the controller sends the same page again");
    after = next;
  }
}

bool no_controller(const base::Error& error) { return error.code == Code::unavailable && error.field == "connect_failed"; }

std::string slurm_contact_text(const base::Error& error) {
  if (error.field == "connection_lost") return fmt::format("Socket timed out on send/recv operation ({})", error.message);
  if (!no_controller(error)) return base::to_text(error);
  return fmt::format("Unable to contact slurm controller (connect failure); tried {}", error.value);
}

std::string random_key() {
  std::array<unsigned char, 16> bytes{};
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t n = ::getrandom(bytes.data() + have, bytes.size() - have, 0);
    if (n > 0) have += static_cast<std::size_t>(n);
  }
  std::string text;
  for (const unsigned char b : bytes) text += fmt::format("{:02x}", b);
  return text;
}

}  // namespace sy::cli
