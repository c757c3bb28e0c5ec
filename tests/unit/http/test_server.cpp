#include <fcntl.h>
#include <sys/resource.h>

#include "http/blocking_client.hpp"
#include "http/problem.hpp"
#include "running_server.hpp"
#include "support/catch.hpp"

using namespace sy::http;
using namespace sy::http::testing;
using sy::base::milliseconds;
using sy::base::seconds;

namespace {
void echo(const Request& request, const Responder& answer) {
  Response response;
  response.content_type = "text/plain";
  response.body = request.method + " " + request.target + " " + request.body;
  answer(std::move(response));
}
std::string status_line(const std::string& reply) { return reply.substr(0, reply.find("\r\n")); }
}  // namespace

TEST_CASE("A request is answered over a unix socket and over TCP by the same handler") {
  RunningServer server(echo);
  REQUIRE(server.unix_ok);
  REQUIRE(server.port != 0);
  BlockingClient local(Endpoint{server.path, {}, 0});
  BlockingClient remote(Endpoint{{}, "127.0.0.1", server.port});
  for (BlockingClient* client : {&local, &remote}) {
    const auto first = client->send("POST", "/a?b=c", "hello");
    REQUIRE(first);
    CHECK(first->status == 200);
    CHECK(first->body == "POST /a?b=c hello");
    CHECK(client->get("/again")->body == "GET /again ");
  }
  CHECK(server.counters().accepted == 2);  // each kept its connection
}

TEST_CASE("The handler learns from the kernel who is at the other end of a unix socket") {
  Peer seen;
  RunningServer server([&](const Request& request, const Responder& answer) {
    seen = request.peer;
    answer({});
  });
  BlockingClient(Endpoint{server.path, {}, 0}).get("/").value();
  CHECK(seen.local);
  CHECK(seen.uid == ::getuid());
  CHECK(seen.gid == ::getgid());
  CHECK(seen.pid == ::getpid());
  BlockingClient(Endpoint{{}, "127.0.0.1", server.port}).get("/").value();
  CHECK_FALSE(seen.local);
  CHECK(seen.uid == ~0U);
  CHECK(seen.address.starts_with("127.0.0.1:"));
}

TEST_CASE("Pipelined requests are answered in their order") {
  RunningServer server(echo);
  RawSocket raw(server.path);
  raw.write("GET /1 HTTP/1.1\r\n\r\nPOST /2 HTTP/1.1\r\nContent-Length: 2\r\n\r\nxyGET /3 HTTP/1.1\r\nConnection: close\r\n\r\n");
  const std::string all = raw.read_all();
  const auto one = all.find("GET /1"), two = all.find("POST /2 xy"), three = all.find("GET /3");
  CHECK(one < two);
  CHECK(two < three);
  CHECK(three != std::string::npos);
}

TEST_CASE("Malformed requests get 400 and the connection is closed") {
  RunningServer server(echo);
  const std::string bad =
      GENERATE(as<std::string>{}, "rubbish\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/2.0\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n",
               "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
               "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
               "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n");
  RawSocket raw(server.path);
  raw.write(bad);
  const std::string reply = raw.read_all();
  INFO(bad);
  CHECK(status_line(reply) == "HTTP/1.1 400 Bad Request");
  CHECK(reply.find("application/problem+json") != std::string::npos);
  CHECK(server.counters().requests == 0);
}

TEST_CASE("A header that is too large gets 431, a body that is too large 413, announced or chunked") {
  ServerOptions options;
  options.max_header_bytes = 1024;
  options.max_body_bytes = 2000;
  RunningServer server(echo, options);
  SECTION("header") {
    RawSocket raw(server.path);
    raw.write("GET / HTTP/1.1\r\nX: " + std::string(5000, 'x') + "\r\n\r\n");
    CHECK(status_line(raw.read_all()).starts_with("HTTP/1.1 431"));
  }
  SECTION("length announced, and sent although it is refused") {
    RawSocket raw(server.path);
    raw.write("POST / HTTP/1.1\r\nContent-Length: 3000000\r\n\r\n");
    raw.write(std::string(3'000'000, 'x'));
    const std::string reply = raw.read_all();
    CHECK(status_line(reply).starts_with("HTTP/1.1 413"));
    CHECK(reply.find("2000 bytes") != std::string::npos);
  }
  SECTION("expected first, so that it is never sent") {
    RawSocket raw(server.path);
    raw.write("POST / HTTP/1.1\r\nContent-Length: 3000\r\nExpect: 100-continue\r\n\r\n");
    CHECK(status_line(raw.read_all()).starts_with("HTTP/1.1 413"));
  }
  SECTION("chunked") {
    RawSocket raw(server.path);
    raw.write("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 5; ++i) raw.write("3e8\r\n" + std::string(1000, 'x') + "\r\n");
    CHECK(status_line(raw.read_all()).starts_with("HTTP/1.1 413"));
  }
  SECTION("the blocking client sees the refusal, not a broken pipe") {
    BlockingClient client(Endpoint{server.path, {}, 0});
    const auto reply = client.send("POST", "/", std::string(4'000'000, 'x'));
    REQUIRE(reply);
    CHECK(reply->status == 413);
  }
  CHECK(server.counters().requests == 0);
}

TEST_CASE("A body of chunks and one that waits for 100 Continue are read whole") {
  RunningServer server(echo);
  RawSocket chunked(server.path);
  chunked.write("PUT /c HTTP/1.1\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  CHECK(chunked.read_all().find("PUT /c abcde") != std::string::npos);
  RawSocket polite(server.path);
  polite.write("PUT /e HTTP/1.1\r\nConnection: close\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  CHECK(polite.read_until("\r\n\r\n").starts_with("HTTP/1.1 100 Continue"));
  polite.write("abcde");
  CHECK(polite.read_all().find("PUT /e abcde") != std::string::npos);
}

TEST_CASE("Bodies in memory have one budget for all connections") {
  ServerOptions options;
  options.max_buffered_bytes = 1'000'000;
  RunningServer server(echo, options);
  RawSocket holds(server.path);
  holds.write("POST / HTTP/1.1\r\nContent-Length: 900000\r\n\r\n");
  while (server.counters().buffered_bytes == 0) std::this_thread::yield();
  CHECK(BlockingClient(Endpoint{server.path, {}, 0}).send("POST", "/", std::string(200'000, 'x'))->status == 503);
  holds.hang_up();
  while (server.counters().buffered_bytes != 0) std::this_thread::yield();
  CHECK(BlockingClient(Endpoint{server.path, {}, 0}).send("POST", "/", std::string(200'000, 'x'))->status == 200);
}

TEST_CASE("A client that sends its header or body drop by drop is cut off with 408") {
  ServerOptions options;
  options.header_timeout = milliseconds{200};
  options.body_timeout = milliseconds{200};
  RunningServer server(echo, options);
  RawSocket header(server.path), body(server.path);
  header.write("GET / HTT");
  body.write("POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc");
  CHECK(status_line(header.read_all()).starts_with("HTTP/1.1 408"));
  CHECK(status_line(body.read_all()).starts_with("HTTP/1.1 408"));
}

TEST_CASE("A reply may come later, from a deferred responder, and only the first one counts") {
  std::vector<Responder> kept;
  RunningServer server([&](const Request&, const Responder& answer) { kept.push_back(answer); });
  RawSocket raw(server.path);
  raw.write("GET / HTTP/1.1\r\nConnection: close\r\n\r\n");
  while (server.counters().requests == 0) std::this_thread::yield();
  server.running.in([&] {
    CHECK(kept.at(0).open());
    kept[0](Response{201, "text/plain", "first", {}, false});
    kept[0](Response{500, "text/plain", "second", {}, false});
    CHECK_FALSE(kept[0].open());
    return 0;
  });
  const std::string reply = raw.read_all();
  CHECK(status_line(reply) == "HTTP/1.1 201 Created");
  CHECK(reply.find("second") == std::string::npos);
  server.running.in([&] {
    kept.clear();
    return 0;
  });
}

TEST_CASE("A request whose responder is dropped, or whose handler throws, gets 500") {
  RunningServer server([](const Request& request, const Responder&) {
    if (request.target == "/throw") throw std::runtime_error("the reason");
  });
  BlockingClient client(Endpoint{server.path, {}, 0});
  CHECK(client.get("/drop")->status == 500);
  const auto thrown = client.get("/throw");
  CHECK(thrown->status == 500);
  CHECK(thrown->body.find("the reason") != std::string::npos);
}

TEST_CASE("A client that leaves while its reply is deferred is noticed") {
  std::vector<Responder> kept;
  RunningServer server([&](const Request&, const Responder& answer) { kept.push_back(answer); });
  RawSocket raw(server.path);
  raw.write("GET / HTTP/1.1\r\n\r\n");
  while (server.counters().requests == 0) std::this_thread::yield();
  raw.hang_up();
  while (server.counters().open != 0) std::this_thread::sleep_for(milliseconds{20});
  server.running.in([&] {
    CHECK_FALSE(kept.at(0).open());
    kept.clear();
    return 0;
  });
}

TEST_CASE("When all connections are taken the one idle longest makes room, and busy ones are left alone") {
  ServerOptions options;
  options.max_connections = 3;
  std::vector<Responder> kept;
  RunningServer server(
      [&](const Request& request, const Responder& answer) {
        if (request.target == "/wait") kept.push_back(answer);
        else echo(request, answer);
      },
      options);
  RawSocket busy(server.path), older(server.path);
  busy.write("GET /wait HTTP/1.1\r\nConnection: close\r\n\r\n");
  while (server.counters().requests == 0) std::this_thread::yield();
  while (server.counters().open < 2) std::this_thread::yield();
  RawSocket newer(server.path);
  while (server.counters().open < 3) std::this_thread::yield();
  CHECK(BlockingClient(Endpoint{server.path, {}, 0}).get("/")->status == 200);
  CHECK(older.closed_by_server());
  server.running.in([&] {
    kept.at(0)(Response{});
    kept.clear();
    return 0;
  });
  CHECK(status_line(busy.read_all()) == "HTTP/1.1 200 OK");
  newer.write("GET /n HTTP/1.1\r\nConnection: close\r\n\r\n");
  CHECK(newer.read_all().find("GET /n") != std::string::npos);
  CHECK(server.counters().made_room == 1);
}

TEST_CASE("2,000 idle connections do not keep submissions from being answered, and are closed after their time-out") {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 8192);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  ServerOptions options;
  options.idle_timeout = seconds{3};
  RunningServer server(echo, options);
  std::vector<RawSocket> idle;
  for (int i = 0; i < 2000; ++i) {
    idle.emplace_back(server.path);
    REQUIRE(idle.back().connected());
  }
  BlockingClient client(Endpoint{server.path, {}, 0});
  for (int i = 0; i < 100; ++i) REQUIRE(client.send("POST", "/v1/jobs", std::string(4096, 'x'))->status == 200);
  CHECK(server.counters().accepted == 2001);
  for (RawSocket& each : idle) REQUIRE(each.closed_by_server());
  CHECK(server.counters().timed_out >= 2000);
}

TEST_CASE("Draining answers what is under way, closes the idle, accepts no more, and says when it is done") {
  std::vector<Responder> kept;
  RunningServer server([&](const Request&, const Responder& answer) { kept.push_back(answer); });
  RawSocket busy(server.path), idle(server.path);
  busy.write("GET / HTTP/1.1\r\n\r\n");
  while (server.counters().requests == 0 || server.counters().open < 2) std::this_thread::yield();
  std::promise<void> done;
  server.running.in([&] {
    server.server->drain(seconds{30}, [&] { done.set_value(); });
    return 0;
  });
  CHECK(idle.closed_by_server());
  CHECK_FALSE(RawSocket(server.path).connected());
  server.running.in([&] {
    kept.at(0)(Response{});
    kept.clear();
    return 0;
  });
  const std::string reply = busy.read_all();
  CHECK(status_line(reply) == "HTTP/1.1 200 OK");
  CHECK(reply.find("Connection: close") != std::string::npos);
  done.get_future().get();
}

TEST_CASE("A stale socket file is replaced, a live one is a conflict, another file is left alone") {
  RunningServer server(echo);
  CHECK(server.running.in([&] { return server.server->listen_unix(server.path, 0600).error().code; }) == sy::base::Code::conflict);
  const std::string stale = server.folder.path + "/stale";
  {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, stale.c_str(), sizeof address.sun_path - 1);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    ::close(fd);
  }
  CHECK(server.running.in([&] { return server.server->listen_unix(stale, 0600).has_value(); }));
  CHECK(BlockingClient(Endpoint{stale, {}, 0}).get("/")->status == 200);
  const std::string file = server.folder.path + "/file";
  ::close(::creat(file.c_str(), 0600));
  CHECK(server.running.in([&] { return server.server->listen_unix(file, 0600).error().code; }) == sy::base::Code::conflict);
  CHECK(std::filesystem::is_regular_file(file));
}

TEST_CASE("Header values with line ends in them are not sent") {
  RunningServer server([](const Request&, const Responder& answer) {
    answer(Response{200, "text/plain", "", {{"X-A", "1\r\nX-B: 2"}, {"X-C", "3"}}, true});
  });
  const auto reply = BlockingClient(Endpoint{server.path, {}, 0}).get("/");
  CHECK_FALSE(find_header(reply->headers, "X-B"));
  CHECK(reply->header("x-c") == "3");
}

TEST_CASE("One user can not take all connections") {
  ServerOptions options;
  options.max_per_user = 2;
  RunningServer server(echo, options);
  std::optional<RawSocket> first(server.path);
  RawSocket second(server.path), third(server.path);
  CHECK(status_line(third.read_all()) == "HTTP/1.1 503 Service Unavailable");
  CHECK(BlockingClient(Endpoint{{}, "127.0.0.1", server.port}).get("/")->status == 200);  // TCP has no users
  first.reset();
  while (server.counters().open != 1) std::this_thread::sleep_for(milliseconds{5});
  CHECK(BlockingClient(Endpoint{server.path, {}, 0}).get("/")->status == 200);
}
