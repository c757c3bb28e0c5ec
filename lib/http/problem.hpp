// RFC 9457 problem documents, and the one table from error code to HTTP status and back.
// Not a JSON library: it only writes one flat object of strings.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "http/message.hpp"

namespace sy::http {

int status_of(base::Code);
std::string_view code_name(base::Code);       // "invalid_argument"
base::Code code_from(std::string_view name, int status);  // unknown name: judged by the status

// application/problem+json with the members that docs/api-v1.md names; empty ones are left out.
Response problem(const base::Error&);
Response problem(int status, const base::Error&);

// `text` as a JSON string, quotes included. Bytes that are no UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

}  // namespace sy::http
