#include "http/blocking_client.hpp"
#include "http/problem.hpp"
#include "running_server.hpp"
#include "support/catch.hpp"

using namespace sy::http;
using namespace sy::http::testing;
using sy::base::milliseconds;
using sy::base::seconds;

namespace {
// Answers each connection with the next of some scripts, byte by byte as given, then closes.
struct ScriptedServer {
  explicit ScriptedServer(std::vector<std::string> scripts) : listener(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    path = folder.path + "/s";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    (void)!::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    ::listen(listener, 8);
    thread = std::thread([this, scripts = std::move(scripts)] {
      for (const std::string& script : scripts) {
        const int fd = ::accept(listener, nullptr, nullptr);
        if (fd < 0) return;
        std::string request;
        char buffer[4096];
        while (request.find("\r\n\r\n") == std::string::npos) {
          const auto n = ::recv(fd, buffer, sizeof buffer, 0);
          if (n <= 0) break;
          request.append(buffer, static_cast<std::size_t>(n));
        }
        requests.push_back(request);
        (void)!::send(fd, script.data(), script.size(), MSG_NOSIGNAL);
        ::close(fd);
      }
    });
  }
  ~ScriptedServer() {
    ::shutdown(listener, SHUT_RDWR);
    thread.join();
    ::close(listener);
  }
  TempFolder folder;
  std::string path;
  int listener;
  std::vector<std::string> requests;
  std::thread thread;
};
const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
BlockingOptions quick() {
  BlockingOptions options;
  options.pause = milliseconds{1};
  options.connect_timeout = milliseconds{200};
  options.reply_timeout = seconds{10};
  return options;
}
}  // namespace

TEST_CASE("A lost connection is tried again with the same idempotency key") {
  ScriptedServer server({"", "HTTP/1.1 200 OK\r\nContent-Le", ok});
  const auto reply = BlockingClient(Endpoint{server.path, {}, 0}, quick()).send("POST", "/v1/jobs", "{}", {{"Idempotency-Key", "k1"}});
  REQUIRE(reply);
  CHECK(reply->body == "ok");
  server.thread.join();
  server.thread = std::thread([] {});
  REQUIRE(server.requests.size() == 3);
  for (const std::string& request : server.requests) CHECK(request.find("Idempotency-Key: k1\r\n") != std::string::npos);
}

TEST_CASE("A request without idempotency key that may have been carried out is not sent twice") {
  ScriptedServer server({"", ok});
  const auto reply = BlockingClient(Endpoint{server.path, {}, 0}, quick()).send("POST", "/v1/jobs", "{}");
  REQUIRE_FALSE(reply);
  CHECK(reply.error().code == sy::base::Code::unavailable);
  CHECK(reply.error().hint.find("may have been carried out") != std::string::npos);
  CHECK(server.requests.size() == 1);
}

TEST_CASE("When nobody listens the error names the address and suggests a cause") {
  TempFolder folder;
  BlockingOptions options = quick();
  const auto reply = BlockingClient(Endpoint{folder.path + "/none", {}, 0}, options).get("/");
  REQUIRE_FALSE(reply);
  CHECK(reply.error().message.find(folder.path + "/none") != std::string::npos);
  CHECK(reply.error().hint == "is switchyardd running?");
}

TEST_CASE("A server that never answers is given up after the time-out") {
  std::vector<Responder> kept;
  RunningServer server([&](const Request&, const Responder& answer) { kept.push_back(answer); });
  BlockingOptions options = quick();
  options.attempts = 1;
  options.reply_timeout = milliseconds{100};
  const auto reply = BlockingClient(Endpoint{server.path, {}, 0}, options).get("/");
  REQUIRE_FALSE(reply);
  CHECK(reply.error().message.find("no answer in time") != std::string::npos);
  RunningLoop loop;
  std::promise<sy::base::Result<Response>> answer;
  auto client = loop.in([&] { return std::make_unique<Client>(loop.loop); });
  loop.in([&] {
    client->send(Endpoint{server.path, {}, 0}, Request{"GET", "/", {}, {}, {}}, milliseconds{100},
                 [&](auto result) { answer.set_value(std::move(result)); });
    return 0;
  });
  const auto late = answer.get_future().get();
  REQUIRE_FALSE(late);
  CHECK(late.error().message.find("no answer in time") != std::string::npos);
  loop.in([&] {
    client.reset();
    return 0;
  });
  server.running.in([&] {
    kept.clear();
    return 0;
  });
}

TEST_CASE("The client for daemons keeps connections, bounds them per server, and answers all that was asked") {
  std::size_t most = 0, now_open = 0;
  std::vector<Responder> kept;
  RunningServer server([&](const Request& request, const Responder& answer) {
    most = std::max(most, ++now_open);
    --now_open;
    Response response;
    response.body = request.target;
    answer(std::move(response));
  });
  RunningLoop loop;
  ClientOptions options;
  options.max_per_endpoint = 2;
  auto client = loop.in([&] { return std::make_unique<Client>(loop.loop, options); });
  std::promise<void> all;
  int answered = 0, right = 0;
  loop.in([&] {
    for (int i = 0; i < 500; ++i) {
      const Endpoint to = i % 2 == 0 ? Endpoint{server.path, {}, 0} : Endpoint{{}, "127.0.0.1", server.port};
      const std::string target = "/" + std::to_string(i);
      client->send(to, Request{"GET", target, {}, {}, {}}, [&, target](auto reply) {
        right += reply && reply->body == target ? 1 : 0;
        if (++answered == 500) all.set_value();
      });
    }
    return 0;
  });
  all.get_future().get();
  CHECK(right == 500);
  CHECK(server.counters().accepted <= 4);
  loop.in([&] {
    client.reset();
    return 0;
  });
}

TEST_CASE("When the common limit of connections is reached other servers get their turn") {
  RunningServer first([](const Request&, const Responder& answer) { answer({}); });
  RunningServer second([](const Request&, const Responder& answer) { answer({}); });
  RunningLoop loop;
  ClientOptions options;
  options.max_connections = 1;
  auto client = loop.in([&] { return std::make_unique<Client>(loop.loop, options); });
  std::promise<void> all;
  int answered = 0;
  loop.in([&] {
    for (int i = 0; i < 20; ++i)
      client->send(Endpoint{i % 2 == 0 ? first.path : second.path, {}, 0}, Request{"GET", "/", {}, {}, {}}, [&](auto reply) {
        CHECK(reply.has_value());
        if (++answered == 20) all.set_value();
      });
    return 0;
  });
  all.get_future().get();
  CHECK(loop.in([&] { return client->open_connections(); }) <= 1);
  loop.in([&] {
    client.reset();
    return 0;
  });
}

TEST_CASE("The client for daemons says why a server can not be reached") {
  RunningLoop loop;
  auto client = loop.in([&] { return std::make_unique<Client>(loop.loop); });
  TempFolder folder;
  for (const Endpoint& to : {Endpoint{folder.path + "/none", {}, 0}, Endpoint{{}, "127.0.0.1", 1}}) {
    std::promise<sy::base::Result<Response>> answer;
    loop.in([&] {
      client->send(to, Request{"GET", "/", {}, {}, {}}, [&](auto reply) { answer.set_value(std::move(reply)); });
      return 0;
    });
    const auto reply = answer.get_future().get();
    REQUIRE_FALSE(reply);
    CHECK(reply.error().message.find(to_text(to)) != std::string::npos);
  }
  loop.in([&] {
    client.reset();
    return 0;
  });
}

TEST_CASE("A server that went away between two requests costs the client for daemons nothing but a new connection") {
  TempFolder folder;
  RunningLoop loop;
  auto client = loop.in([&] { return std::make_unique<Client>(loop.loop); });
  const auto ask = [&] {
    std::promise<sy::base::Result<Response>> answer;
    loop.in([&] {
      client->send(Endpoint{folder.path + "/s", {}, 0}, Request{"GET", "/", {}, {}, {}},
                   [&](auto reply) { answer.set_value(std::move(reply)); });
      return 0;
    });
    return answer.get_future().get();
  };
  for (int round = 0; round < 3; ++round) {
    auto server = loop.in([&] {
      auto made = std::make_unique<Server>(loop.loop, ServerOptions{}, [](const Request&, const Responder& answer) { answer({}); });
      CHECK(made->listen_unix(folder.path + "/s", 0600));
      return made;
    });
    CHECK(ask().has_value());
    loop.in([&] {
      server.reset();
      return 0;
    });
  }
  loop.in([&] {
    client.reset();
    return 0;
  });
}
