#define CATCH_CONFIG_RUNNER
#include <cstdlib>
#include <string>

#include "support/catch.hpp"

// SWITCHYARD_CASES: how many cases a property tries (200 unless said; CI says more). SWITCHYARD_SEED: which ones (new ones each
// time unless said; CI says, so that a red run is the change's doing and comes again). RC_PARAMS, RapidCheck's own, goes before both.
int main(int argc, char** argv) {
  const char* cases = std::getenv("SWITCHYARD_CASES");
  std::string params = std::string("max_discard_ratio=100 max_success=") + (cases != nullptr ? cases : "200");
  if (const char* seed = std::getenv("SWITCHYARD_SEED"); seed != nullptr) params += std::string(" seed=") + seed;
  setenv("RC_PARAMS", params.c_str(), 0);
  return Catch::Session().run(argc, argv);
}
