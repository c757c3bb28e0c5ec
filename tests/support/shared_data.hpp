// Finds the public data that tests use but the repository does not hold: the folder "shared" beside the checkout.
// Without it a test says so and passes, except where CI=true: there it fails, so that nothing is skipped unseen.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "support/catch.hpp"
#include "support/paths.hpp"

namespace sy::test {

inline std::filesystem::path shared_root() {
  if (const char* given = std::getenv("SWITCHYARD_SHARED")) return given;
  return std::filesystem::path(source_dir()) / ".." / "shared";
}

// The file's path; nullopt (said aloud) when the folder is missing.
inline std::optional<std::filesystem::path> shared_file(const std::string& relative) {
  const auto path = shared_root() / relative;
  if (std::filesystem::exists(path)) return path;
  const char* ci = std::getenv("CI");
  if (ci != nullptr && std::string(ci) == "true") FAIL("shared/" << relative << " is missing and CI=true");
  WARN("skipped: shared/" << relative << " is not beside the checkout");
  return std::nullopt;
}

// The text; ".gz" is unpacked by gzip.
inline std::string read_text(const std::filesystem::path& path) {
  if (path.extension() != ".gz") {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string out;
  std::FILE* pipe = ::popen(("gzip -dc '" + path.string() + "'").c_str(), "r");
  REQUIRE(pipe != nullptr);
  char buffer[65536];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
  REQUIRE(::pclose(pipe) == 0);
  return out;
}

}  // namespace sy::test
