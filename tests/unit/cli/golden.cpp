#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>

#include "fake.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"

namespace sy::cli::test {

void check_golden(const std::string& name, const std::string& text) {
  const std::string path = golden_dir() + "/cli/" + name;
  if (const char* rewrite = std::getenv("REWRITE"); rewrite != nullptr && rewrite[0] == '1') {
    std::ofstream{path} << text;
    return;
  }
  std::ifstream file{path};
  std::stringstream expected;
  expected << file.rdbuf();
  INFO("golden " << name << " (REWRITE=1 writes it)");
  CHECK(text == expected.str());
}

// Goldens print times: the zone is fixed before main.
const bool zone_is_utc = [] {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  return true;
}();

}  // namespace sy::cli::test
