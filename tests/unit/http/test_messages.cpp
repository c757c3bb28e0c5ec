#include "http/problem.hpp"
#include "http/response_parser.hpp"
#include "support/catch.hpp"

using namespace sy::http;

TEST_CASE("A target is taken apart and decoded") {
  const auto target = parse_target("/v1/nodes/n%201/drain?state=a%2Cb&x=1+2&empty");
  REQUIRE(target);
  CHECK(target->segments == std::vector<std::string>{"v1", "nodes", "n 1", "drain"});
  CHECK(*target->parameter("state") == "a,b");
  CHECK(*target->parameter("x") == "1 2");
  CHECK(target->parameter("empty")->empty());
  CHECK(target->parameter("none") == nullptr);
  CHECK(parse_target("/")->segments.empty());
  for (const char* bad : {"", "v1", "/%", "/%4", "/%zz", "/a%00b", "/?a=%0"}) CHECK_FALSE(parse_target(bad));
  std::string many = "/?";
  for (int i = 0; i < 65; ++i) many += "a=1&";
  CHECK_FALSE(parse_target(many));
}

TEST_CASE("Encoding a component and decoding it gives it back") {
  check_property("decode(encode(x)) == x", [](const std::string& text) {
    RC_PRE(text.find('\0') == std::string::npos);
    RC_PRE(!text.empty());
    const auto target = parse_target("/" + encode_component(text) + "?q=" + encode_component(text));
    RC_ASSERT(target.has_value());
    RC_ASSERT(target->segments == std::vector<std::string>{text});
    RC_ASSERT(*target->parameter("q") == text);
  });
}

TEST_CASE("Endpoints are read and written") {
  CHECK(parse_endpoint("unix:/run/x")->path == "/run/x");
  CHECK(parse_endpoint("/run/x")->path == "/run/x");
  CHECK(*parse_endpoint("http://[::1]:80/") == Endpoint{{}, "::1", 80});
  CHECK(to_text(*parse_endpoint("host:6830")) == "host:6830");
  for (const char* bad : {"", "host", "host:", "host:0", "host:70000", ":80", "host:8x"}) CHECK_FALSE(parse_endpoint(bad));
}

TEST_CASE("A problem document names code, field, limit, value and hint, and escapes what it is given") {
  const Response response = problem({sy::base::Code::too_large, "too \"long\"\n", "name", "64", "\xff", ""});
  CHECK(response.status == 413);
  CHECK(response.content_type == "application/problem+json");
  CHECK(response.body == R"({"type":"about:blank","title":"Content Too Large","status":413,"code":"too_large",)"
                         R"("detail":"too \"long\"\u000a","field":"name","limit":"64","value":")"
                         "\xEF\xBF\xBD"
                         R"("})");
  for (int i = 0; i <= static_cast<int>(sy::base::Code::internal); ++i) {
    const auto code = static_cast<sy::base::Code>(i);
    CHECK(code_from(code_name(code), 0) == code);
  }
  CHECK(code_from("", 404) == sy::base::Code::not_found);
}

TEST_CASE("A response is read the same however its bytes are cut") {
  const std::string whole =
      GENERATE(as<std::string>{}, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Y:  z \r\n\r\nhello",
               "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 5\r\nx-y: z\r\n\r\nhello",
               "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Y: z\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nT: 1\r\n\r\n");
  for (std::size_t step = 1; step <= whole.size(); ++step) {
    ResponseParser parser;
    for (std::size_t at = 0; at < whole.size(); at += step) {
      CHECK_FALSE(parser.done());
      REQUIRE(parser.feed(std::string_view(whole).substr(at, step)));
    }
    REQUIRE(parser.done());
    CHECK(parser.keep_alive());
    const Response response = parser.take();
    CHECK(response.status == 200);
    CHECK(response.body == "hello");
    CHECK(response.header("X-Y") == "z");
  }
}

TEST_CASE("A response cut short, contradictory, oversized or followed by more is refused") {
  const auto read = [](std::string_view bytes, std::size_t limit) {
    ResponseParser parser(false, limit);
    return parser.feed(bytes).has_value() && parser.finish().has_value();
  };
  CHECK(read("HTTP/1.0 200 OK\r\n\r\nuntil the end", 100));
  CHECK_FALSE(read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", 100));
  CHECK_FALSE(read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello!", 100));
  CHECK_FALSE(read("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n", 100));
  CHECK_FALSE(read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 100));
  CHECK_FALSE(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", 100));
  CHECK_FALSE(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n" + std::string(101, 'x'), 100));
  CHECK_FALSE(read("HTTP/1.1 2000 OK\r\n", 100));
  CHECK_FALSE(read("SSH-2.0-x\r\n\r\n", 100));
  CHECK_FALSE(read("HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'x'), 100));
}
