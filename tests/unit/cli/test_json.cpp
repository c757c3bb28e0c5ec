#include "cli/json.hpp"
#include "cli/json_writer.hpp"
#include "support/catch.hpp"

using namespace sy::cli;

TEST_CASE("a JSON text is read in place, with escapes decoded and missing members null") {
  auto read = JsonDocument::parse(R"({"jobs":[{"id":7,"name":"a\"\u00e9\ud83d\ude00"},{"id":8,"x":[1,2.5,true,null]}],"next":null})");
  REQUIRE(read);
  const auto root = read->root();
  std::vector<std::int64_t> ids;
  root["jobs"].for_each([&](Json job) { ids.push_back(job["id"].integer()); });
  CHECK(ids == std::vector<std::int64_t>{7, 8});
  std::string name;
  root["jobs"].for_each([&](Json job) {
    if (job["id"].integer() == 7) name = job["name"].text();
  });
  CHECK(name == "a\"\xc3\xa9\xf0\x9f\x98\x80");
  CHECK(root["next"].is_null());
  CHECK(root["nothing"]["deeper"].is_null());
  CHECK(root["jobs"].size() == 2);
}

TEST_CASE("broken or endlessly nested JSON is refused with the byte where it breaks") {
  for (const std::string text : {"", "{", "[1,]", "{\"a\" 1}", "\"open", "[1] 2", "{\"a\":\"\\ud800\"}", "nul"})
    CHECK_FALSE(JsonDocument::parse(text));
  CHECK_FALSE(JsonDocument::parse(std::string(100, '[') + std::string(100, ']')));
}

TEST_CASE("what the writer writes, the reader reads") {
  JsonWriter w;
  w.object().member("text", "tab\t quote\" \x01").member("n", -5).member("x", 1.5).member("yes", true).list("l", std::vector<int>{1, 2});
  w.name("o").object().close().close();
  auto read = JsonDocument::parse(w.text());
  REQUIRE(read);
  CHECK(read->root()["text"].text() == "tab\t quote\" \x01");
  CHECK(read->root()["n"].integer() == -5);
  CHECK(read->root()["x"].number() == 1.5);
  CHECK(read->root()["l"].size() == 2);
  CHECK(read->root()["o"].is_object());
}

TEST_CASE("bytes that are not UTF-8 are recognised, and base64 carries them") {
  CHECK(is_utf8("plain \xc3\xa9"));
  CHECK_FALSE(is_utf8("\xe9"));
  CHECK_FALSE(is_utf8("\xc0\xaf"));
  CHECK_FALSE(is_utf8("\xed\xa0\x80"));
  CHECK(base64("") == "");
  CHECK(base64("a") == "YQ==");
  CHECK(base64("ab") == "YWI=");
  CHECK(base64("abc") == "YWJj");
}
