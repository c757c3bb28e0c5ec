// The one place that knows which Catch2 is installed (2 on Debian 12, 3 on Debian 13), and RapidCheck's one wrapper.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <rapidcheck.h>

#include <string>

// A property as a Catch2 check: RapidCheck prints the seed and the shrunk counterexample; RC_PARAMS repeats it.
template <class Testable>
void check_property(const std::string& name, Testable&& testable) {
  INFO(name);
  CHECK(rc::check(name, std::forward<Testable>(testable)));
}
