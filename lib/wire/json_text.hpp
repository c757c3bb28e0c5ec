// Writes JSON text straight into a string: quoting, numbers, and our units (docs/api-v1.md). No tree is built.
// Not a parser: reading goes through Json and read_members.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/quantity.hpp"
#include "base/time.hpp"

namespace sy::wire {

// The length of the well-formed UTF-8 sequence that begins at that byte; 0: none does.
std::size_t utf8_length(std::string_view text, std::size_t at);
// Quoted and escaped. Bytes that are not UTF-8 become U+FFFD, so that the text is JSON whatever a program reported.
void append_quoted(std::string& out, std::string_view text);
void append_integer(std::string& out, std::int64_t);
void append_unsigned(std::string& out, std::uint64_t);
// Thousandths as a decimal: 1500 → 1.5.
void append_cpus(std::string& out, base::Cpus);
// Seconds as a decimal, exact to the microsecond; Duration::max() ("no limit") → null.
void append_seconds(std::string& out, base::Duration);

}  // namespace sy::wire
