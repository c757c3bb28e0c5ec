#include "base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace sy::base {

void assertion_failed(const char* condition, const char* why, const char* file, int line) {
  std::fprintf(stderr, "switchyard: bug: %s (%s) at %s:%d; stopping before anything wrong is stored\n", why, condition, file, line);
  std::abort();
}

}  // namespace sy::base
