#include "base/result.hpp"

namespace sy::base {

std::string to_text(const Error& e) {
  std::string out = e.field.empty() ? "" : e.field + ": ";
  out += e.message;
  if (!e.value.empty()) out += " (given: " + e.value + ")";
  if (!e.limit.empty()) out += " (limit: " + e.limit + ")";
  if (!e.hint.empty()) out += "; " + e.hint;
  return out;
}

}  // namespace sy::base
