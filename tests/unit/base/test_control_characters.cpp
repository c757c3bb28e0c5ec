#include "base/control_characters.hpp"
#include "support/catch.hpp"

using namespace sy::base;

TEST_CASE("control characters are found wherever they are, and other text is left alone") {
  CHECK(find_control("plain, ünïcødé – 漢字 © \xC2\xA0") == std::string_view::npos);
  CHECK(find_control("a\nb") == 1);
  CHECK(find_control("\x1b[31m") == 0);
  CHECK(find_control("tab\t") == 3);
  CHECK(find_control("del\x7f") == 3);
  CHECK(find_control("c1 \xC2\x9B"
                     "31m") == 3);
  CHECK(find_control("cut \xC2") == std::string_view::npos);
  CHECK(find_control(std::string_view{"\0", 1}) == 0);
}

TEST_CASE("control characters are shown as people write them") {
  CHECK(show_control("a\nb\tc\r\x1b[31m\x7f\xC2\x9Bü") == "a\\nb\\tc\\r\\x1b[31m\\x7f\\x9bü");
}
