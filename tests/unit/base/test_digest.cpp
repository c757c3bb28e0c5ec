#include <string>

#include "base/digest.hpp"
#include "support/catch.hpp"

using sy::base::Digest;

TEST_CASE("a digest is its text again") {
  const std::string text = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  REQUIRE(Digest::from_text(text));
  CHECK(Digest::from_text(text)->text() == text);
  CHECK(Digest::from_text("E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855") == Digest::from_text(text));
  CHECK(Digest{}.text().empty());
  CHECK(Digest::from_text("") == Digest{});
  CHECK(*Digest::from_text(text) != Digest{});
}

TEST_CASE("what is no digest is none") {
  for (const std::string& bad : {std::string("ab"), std::string(63, 'a'), std::string(65, 'a'), std::string(63, 'a') + "g"})
    CHECK_FALSE(Digest::from_text(bad));
}
