// Asking the controller: sends a request, turns problem documents into Errors, walks pages, tries again when a connection
// was lost. Not the transport and not what an answer means to a command.
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"
#include "cli/context.hpp"
#include "cli/json.hpp"

namespace sy::cli {

// One exchange. Anything but 2xx is an Error with the problem document's parts.
base::Result<JsonDocument> call(Context&, Request);
// Same for answers that are not JSON.
base::Result<std::string> call_text(Context&, Request);
// For requests that may be repeated (they carry an Idempotency-Key, or change nothing twice): goes on after lost connections
// and while the controller starts.
base::Result<JsonDocument> call_again(Context&, const Request&);

inline Request get(std::string path) { return Request{"GET", std::move(path), {}, {}, 60}; }
inline Request post(std::string path, std::string body = "{}") { return Request{"POST", std::move(path), std::move(body), {}, 60}; }

// All pages of a list: `query` without limit and after; `member` names the list. Documents are kept, rows point into them.
struct Pages {
  std::deque<JsonDocument> documents;
  std::vector<Json> rows;
};
base::Result<Pages> get_pages(Context&, const std::string& path, const std::string& query, std::string_view member);

// Is this "nobody answers there"? Slurm's commands have a sentence of their own for it.
bool no_controller(const base::Error&);
// That sentence, with what was tried.
std::string slurm_contact_text(const base::Error&);

// 32 random hexadecimal digits.
std::string random_key();

}  // namespace sy::cli
