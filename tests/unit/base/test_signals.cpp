#include <csignal>

#include "base/signals.hpp"
#include "support/catch.hpp"

using namespace sy::base;

TEST_CASE("signals read by name in any case and by number") {
  const std::vector<std::pair<std::string, int>> rows{
      {"TERM", SIGTERM}, {"SIGTERM", SIGTERM}, {"term", SIGTERM}, {"SigUsr1", SIGUSR1}, {"USR2", SIGUSR2}, {"9", 9}, {"64", 64},
      {"1", 1},          {"INT", SIGINT},      {"CONT", SIGCONT}, {"STOP", SIGSTOP},    {"09", 9},
  };
  for (const auto& [text, number] : rows) {
    INFO(text);
    const auto got = parse_signal(text);
    REQUIRE(got);
    CHECK(*got == number);
  }
  for (const std::string text : {"", "0", "65", "999", "-1", "9999", "SIG", "SIGSIGTERM", "TERMX", "1 ", "REQUE"}) {
    INFO(text);
    CHECK_FALSE(parse_signal(text));
  }
  CHECK_FALSE(parse_signal(std::string(1'000'000, '9')));
}

TEST_CASE("signals print by name where they have one, and read back") {
  CHECK(signal_name(SIGTERM) == "SIGTERM");
  CHECK(signal_name(SIGABRT) == "SIGABRT");
  CHECK(signal_name(42) == "signal 42");
  CHECK(signal_name(0) == "signal 0");
  for (int n = 1; n <= 31; ++n) CHECK(parse_signal(signal_name(n)).value_or(0) == n);
}
