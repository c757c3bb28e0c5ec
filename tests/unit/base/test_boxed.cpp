#include "base/boxed.hpp"

#include <string>

#include "base/rare.hpp"
#include "support/catch.hpp"

using sy::base::Boxed;

TEST_CASE("a boxed value is copied, not shared") {
  Boxed<std::string> a = std::string("first");
  Boxed<std::string> b = a;
  *b += " and more";
  CHECK(*a == "first");
  a = b;
  a->clear();
  CHECK(*b == "first and more");
  b = *&b;
  CHECK(*b == "first and more");
}

TEST_CASE("boxed values are equal by what they hold, and an absent one equals only another") {
  const Boxed<int> none;
  const Boxed<int> one = 1;
  CHECK(none == Boxed<int>(std::nullopt));
  CHECK(one == Boxed<int>(1));
  CHECK_FALSE(one == Boxed<int>(2));
  CHECK_FALSE(one == none);
  CHECK_FALSE(none == one);
}

TEST_CASE("a boxed value takes the room of a pointer and can be made, taken away and moved") {
  STATIC_REQUIRE(sizeof(Boxed<std::string>) == sizeof(void*));
  Boxed<std::string> a;
  CHECK_FALSE(a.has_value());
  CHECK(a.emplace(3, 'x') == "xxx");
  const Boxed<std::string> b = std::move(a);
  CHECK(*b == "xxx");
  a.reset();
  CHECK_FALSE(a);
}

TEST_CASE("a rare value reads as its default until it is edited, and takes the room of a pointer") {
  STATIC_REQUIRE(sizeof(sy::base::Rare<std::string>) == sizeof(void*));
  sy::base::Rare<std::string> a;
  CHECK(a->empty());
  const sy::base::Rare<std::string> before = a;
  a.edit() = "now";
  CHECK(*a == "now");
  CHECK(before->empty());
  CHECK_FALSE(a == before);
  const sy::base::Rare<std::string> copy = a;
  a.edit().clear();
  CHECK(*copy == "now");
  CHECK(a == before);
  CHECK(before == sy::base::Rare<std::string>(std::string()));
}
