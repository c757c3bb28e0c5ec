// How an expected refusal is told: a code for programs, a sentence for people, and the parts that make it useful.
// Not for failures of the environment (those are exceptions) and not for bugs (those are ASSERTs).
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace sy::base {

enum class Code {
  invalid_argument,   // the value can not be understood or is out of range          400, exit 1
  unauthenticated,    // we do not know who asks                                     401
  forbidden,          // we know, and the answer is no                               403
  not_found,          //                                                             404
  conflict,           // the thing is in a state that does not allow this            409
  precondition,       // If-Match or an idempotency key does not match               412 / 422
  too_large,          //                                                             413
  impossible,         // no placement can ever satisfy it on this cluster            422
  too_many,           // a limit on how many or how often                            429
  unsupported,        // a known word that this release does not carry out           501
  unavailable,        // try again later: starting, draining, disk full              503
  internal            //                                                             500
};

// Always set: code, message. The others where they apply; all are shown to the user.
struct Error {
  Code code{Code::internal};
  std::string message;  // one sentence, no full stop needed
  std::string field;    // what was wrong, in the user's words: "--time", "nodes[2].cpus", "time_limit"
  std::string limit;    // what would have been accepted
  std::string value;    // what was given
  std::string hint;     // what to do instead

  bool operator==(const Error&) const = default;
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(Error e) { return tl::unexpected<Error>(std::move(e)); }
inline tl::unexpected<Error> fail(Code code, std::string message, std::string field = {}, std::string value = {}, std::string hint = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(field), {}, std::move(value), std::move(hint)});
}

// "message (field: value); hint" — the one line that a terminal shows.
std::string to_text(const Error&);

}  // namespace sy::base
