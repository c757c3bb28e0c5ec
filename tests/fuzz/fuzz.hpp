// What each fuzzer defines, and the two ways it can fail: an assertion of its own, or a crash planted to prove the fuzzer.
// Not a test framework: the fuzzing engine, or the runner over the kept inputs (replay_main.cpp), calls fuzz_one.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace sy::fuzz {

// Feeds one input to the parser. Must not keep anything between calls.
void fuzz_one(std::string_view input);

[[noreturn]] inline void fail(const char* what, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: %s\n", file, line, what);
  std::abort();
}

}  // namespace sy::fuzz

#define FUZZ_CHECK(condition) ((condition) ? static_cast<void>(0) : ::sy::fuzz::fail("does not hold: " #condition, __FILE__, __LINE__))

// With SWITCHYARD_FUZZ_PLANT, a crash that no kept input reaches but the engine does, through the parser: proves that it looks inside.
#ifdef SWITCHYARD_FUZZ_PLANT
namespace sy::fuzz {
// A name as no kept input has one and a single changed byte makes it.
inline bool unusual(std::string_view name) { return name.find_first_of("QRSTUVWXYZ") != std::string_view::npos; }
}  // namespace sy::fuzz
#define FUZZ_PLANT(condition) ((condition) ? ::sy::fuzz::fail("the planted crash was found", __FILE__, __LINE__) : static_cast<void>(0))
#else
#define FUZZ_PLANT(condition) static_cast<void>(0)
#endif
