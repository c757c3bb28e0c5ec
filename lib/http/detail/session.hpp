// One connection of a server: reads requests, hands them on, writes replies, keeps its deadline. Private to lib/http.
// Not the list of connections and not the listening: server.cpp.
#pragma once

#define BOOST_BEAST_SEPARATE_COMPILATION
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <list>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "http/detail/asio.hpp"
#include "http/server.hpp"

namespace sy::http {

using Moment = std::chrono::steady_clock::time_point;

class Session : public std::enable_shared_from_this<Session> {
 public:
  enum class Phase { idle, header, body, handling, writing, lingering, closed };

  Session(std::shared_ptr<Server::Impl>, Socket, Peer);
  ~Session();
  void start();
  void close();
  void tick(Moment now);          // the server's sweep: is the deadline over?
  void answer(std::uint64_t number, Response);
  bool waits_for(std::uint64_t number) const { return phase_ == Phase::handling && number == number_; }
  bool idle() const { return phase_ == Phase::idle; }
  void close_after_reply() { draining_ = true; }

  std::list<Session*>::iterator all_place, idle_place;  // the server's lists

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  void enter(Phase, base::Duration limit);
  void next_request();
  void read_some();
  void advance();
  bool header_accepted();         // false: answered, or goes on by itself
  void say_continue();
  void dispatch();
  void refuse(Response);          // answers and closes: the rest of the stream can not be trusted
  void write(Response, bool head_only);
  void written();
  void linger();
  void watch_for_hangup();
  void charge(std::size_t bytes);

  std::shared_ptr<Server::Impl> server_;
  Socket socket_;
  Peer peer_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  Phase phase_{Phase::idle};
  Moment deadline_{}, since_{};
  std::uint64_t number_{};        // of the request being handled: a late answer to an older one is ignored
  std::size_t charged_{};
  std::size_t lingered_{};
  std::string head_, body_;       // of the reply being written
  bool head_request_{}, keep_alive_{true}, close_{}, draining_{}, watching_{}, header_seen_{}, old_version_{};
};

class Responder::Exchange {
 public:
  // Keeps the session alive while nothing else does: between its last read and its reply no operation is outstanding.
  Exchange(std::shared_ptr<Session> session, std::uint64_t number) : session_(std::move(session)), number_(number) {}
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  void answer(Response response) {
    if (std::exchange(answered_, true)) return;
    session_->answer(number_, std::move(response));
    session_.reset();
  }
  bool open() const { return !answered_ && session_->waits_for(number_); }

 private:
  std::shared_ptr<Session> session_;
  std::uint64_t number_;
  bool answered_{};
};

struct Server::Impl : std::enable_shared_from_this<Server::Impl> {
  Impl(Loop& l, ServerOptions o, Handler h) : loop(l), options(o), handler(std::move(h)), sweep(l) {}
  Loop& loop;
  ServerOptions options;
  Handler handler;
  Timer sweep;
  std::list<Session*> all, idle;  // idle: longest first
  struct Listener;
  std::vector<std::shared_ptr<Listener>> listeners;
  std::unordered_map<std::uint32_t, std::size_t> open_by_user;   // unix sockets only
  ServerCounters counters;
  std::function<void()> drained;
  std::optional<Moment> drain_deadline;
  bool closing{};

  void start_sweep();
  void listen(int descriptor, bool local, std::string path);
  void accept(Listener&);
  void admit(int descriptor, bool local);
  void stop_listening();
  void left();                    // a session has closed
};

}  // namespace sy::http
