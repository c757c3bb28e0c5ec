#define CATCH_CONFIG_RUNNER
#include <cstdlib>
#include <string>

#include "support/catch.hpp"

// SWITCHYARD_CASES: how many cases a property tries (200 unless said; CI says more). RC_PARAMS, RapidCheck's own, goes before it.
int main(int argc, char** argv) {
  const char* cases = std::getenv("SWITCHYARD_CASES");
  const std::string params = std::string("max_success=") + (cases != nullptr ? cases : "200");
  setenv("RC_PARAMS", params.c_str(), 0);
  return Catch::Session().run(argc, argv);
}
