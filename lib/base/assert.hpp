// ASSERT(condition, "why it must hold"): always on. A failed one is a bug in Switchyard; the process stops before it
// stores or does something wrong. Not for bad input: that is a Result.
#pragma once

namespace sy::base {
[[noreturn]] void assertion_failed(const char* condition, const char* why, const char* file, int line);
}

#define ASSERT(condition, why) ((condition) ? static_cast<void>(0) : ::sy::base::assertion_failed(#condition, why, __FILE__, __LINE__))
