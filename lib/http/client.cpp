#include "http/client.hpp"

#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <set>

#include "http/detail/asio.hpp"
#include "http/response_parser.hpp"

namespace sy::http {

namespace {
using Moment = std::chrono::steady_clock::time_point;
using Resolver = asio::ip::basic_resolver<asio::ip::tcp, Executor>;

struct Job {                       // one request and who waits for its answer
  Endpoint to;
  Request request;
  base::Duration timeout;
  Client::Done done;
};
struct EndpointLess {
  bool operator()(const Endpoint& a, const Endpoint& b) const {
    return std::tie(a.path, a.host, a.port) < std::tie(b.path, b.host, b.port);
  }
};
base::Error unreachable(const Endpoint& to, const std::string& why) {
  return base::Error{base::Code::unavailable, "can not reach " + to_text(to) + ": " + why, {}, {}, {}, {}};
}
}  // namespace

class Connection;

struct Client::Impl : std::enable_shared_from_this<Client::Impl> {
  Impl(Loop& l, ClientOptions o) : loop(l), options(o), sweep(l) {}
  struct Server {
    std::deque<Job> waiting;
    std::list<std::shared_ptr<Connection>> idle;   // used last at the back
    std::size_t open{};
  };
  Loop& loop;
  ClientOptions options;
  Timer sweep;
  std::map<Endpoint, Server, EndpointLess> servers;
  std::set<Endpoint, EndpointLess> blocked;        // have work, but max_connections is reached
  std::set<Connection*> all;
  std::size_t queued{};
  bool closing{};

  void start_sweep();
  void pump(const Endpoint&);
  void freed(const Endpoint&);
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Client::Impl> owner, Endpoint to)
      : owner_(std::move(owner)), to_(std::move(to)), resolver_(owner_->loop.impl().context), socket_(owner_->loop.impl().context) {
    owner_->all.insert(this);
  }
  ~Connection() = default;

  void begin(Job job) {
    job_ = std::move(job);
    deadline_ = std::chrono::steady_clock::now() + job_->timeout;
    parser_.emplace(job_->request.method == "HEAD", owner_->options.max_body_bytes);
    bytes_ = request_head(job_->request, to_, true) + job_->request.body;
    if (socket_.is_open()) write();
    else if (!to_.path.empty()) connect_unix();
    else resolve();
  }
  void tick(Moment now) {
    if (now < deadline_) return;
    if (job_) fail("no answer in time");
    else close();
  }
  void close() {
    if (closed_) return;
    const auto self = shared_from_this();  // the list of idle ones may hold the last other reference
    closed_ = true;
    ErrorCode ignored;
    resolver_.cancel();
    socket_.close(ignored);
    owner_->all.erase(this);
    auto& server = owner_->servers[to_];
    std::erase(server.idle, self);
    --server.open;
    if (!owner_->closing) owner_->freed(to_);
  }
  // A kept connection that the other end closed meanwhile, or that says something nobody asked for.
  bool stale() {
    char byte = 0;
    const auto count = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return count >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
  }

 private:
  void connect_unix() {
    ErrorCode error;
    const asio::local::stream_protocol::endpoint address(to_.path);
    socket_.open(asio::generic::stream_protocol(AF_UNIX, 0), error);
    if (!error) socket_.connect(address, error);  // local: at once or not at all
    if (error) fail(error.message());
    else write();
  }
  void resolve() {
    resolver_.async_resolve(to_.host, std::to_string(to_.port), asio::ip::tcp::resolver::numeric_service,
                            [self = shared_from_this()](ErrorCode error, const Resolver::results_type& found) {
                              if (self->closed_) return;
                              if (error) return self->fail(error.message());
                              for (const auto& each : found) self->addresses_.push_back(each.endpoint());
                              self->connect_next();
                            });
  }
  void connect_next() {
    if (addresses_.empty()) return fail(last_error_);
    const asio::ip::tcp::endpoint address = addresses_.front();
    addresses_.pop_front();
    ErrorCode error;
    socket_.close(error);
    socket_.open(asio::generic::stream_protocol(address.protocol()), error);
    if (error) return fail(error.message());
    const int on = 1;
    ::setsockopt(socket_.native_handle(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    socket_.async_connect(asio::generic::stream_protocol::endpoint(address), [self = shared_from_this()](ErrorCode failure) {
      if (self->closed_) return;
      if (!failure) return self->write();
      self->last_error_ = failure.message();
      self->connect_next();
    });
  }
  void write() {
    asio::async_write(socket_, asio::buffer(bytes_), [self = shared_from_this()](ErrorCode error, std::size_t) {
      if (self->closed_) return;
      if (error && error != asio::error::broken_pipe && error != asio::error::connection_reset) return self->fail(error.message());
      self->read();  // after a broken pipe an early refusal may still be waiting
    });
  }
  void read() {
    if (buffer_.empty()) buffer_.resize(16 * 1024);
    socket_.async_read_some(asio::buffer(buffer_), [self = shared_from_this()](ErrorCode error, std::size_t count) {
      if (self->closed_ || !self->job_) return;
      auto fed = error ? self->parser_->finish() : self->parser_->feed({self->buffer_.data(), count});
      if (error && error != asio::error::eof && !self->parser_->done()) return self->fail(error.message());
      if (!fed) return self->fail(fed.error().message);
      if (!self->parser_->done()) return self->read();
      self->finished(!error && self->parser_->keep_alive());
    });
  }
  void finished(bool keep) {
    const auto self = shared_from_this();
    Job job = std::move(*job_);
    job_.reset();
    Response response = parser_->take();
    bytes_.clear();
    deadline_ = std::chrono::steady_clock::now() + owner_->options.idle_timeout;
    if (keep) {
      owner_->servers[to_].idle.push_back(self);
      std::vector<char>{}.swap(buffer_);
    } else {
      close();
    }
    job.done(std::move(response));
    if (!owner_->closing) owner_->freed(to_);
  }
  void fail(const std::string& why) {
    const auto self = shared_from_this();
    Job job = std::move(*job_);
    job_.reset();
    close();
    job.done(base::fail(unreachable(to_, why)));
  }

  std::shared_ptr<Client::Impl> owner_;
  Endpoint to_;
  Resolver resolver_;
  Socket socket_;
  std::optional<Job> job_;
  std::optional<ResponseParser> parser_;
  std::deque<asio::ip::tcp::endpoint> addresses_;
  std::string bytes_, last_error_{"the name has no address"};
  std::vector<char> buffer_;
  Moment deadline_{};
  bool closed_{};
};

void Client::Impl::start_sweep() {
  sweep.start(base::milliseconds{100}, [this] {
    const auto self = shared_from_this();
    const Moment now = std::chrono::steady_clock::now();
    std::vector<std::shared_ptr<Connection>> each;
    for (Connection* connection : all) each.push_back(connection->shared_from_this());
    for (const auto& connection : each) connection->tick(now);
    if (!closing && !all.empty()) start_sweep();  // nothing open: nothing to watch
  });
}

// Starts as many waiting requests of one server as connections allow.
void Client::Impl::pump(const Endpoint& to) {
  while (!closing) {
    Server& server = servers[to];
    if (server.waiting.empty()) {
      blocked.erase(to);
      if (server.open == 0) servers.erase(to);
      return;
    }
    std::shared_ptr<Connection> connection;
    while (!server.idle.empty() && !connection) {
      connection = server.idle.back();
      server.idle.pop_back();
      if (connection->stale()) {
        connection->close();
        connection.reset();
      }
    }
    if (!connection) {
      if (server.open >= options.max_per_endpoint) return;
      if (all.size() >= options.max_connections) {
        blocked.insert(to);
        return;
      }
      connection = std::make_shared<Connection>(shared_from_this(), to);
      ++server.open;
    }
    Job job = std::move(server.waiting.front());
    server.waiting.pop_front();
    --queued;
    if (!sweep.running()) start_sweep();
    connection->begin(std::move(job));
  }
}

// A connection of `to` is free again, or gone: its own queue first, then one that the common limit held back.
void Client::Impl::freed(const Endpoint& to) {
  loop.post([self = shared_from_this(), to] {
    self->pump(to);
    if (self->blocked.empty() || self->closing) return;
    if (self->all.size() >= self->options.max_connections) {  // make room: some kept connection is idle
      for (auto& [other, server] : self->servers)
        if (!server.idle.empty()) {
          server.idle.front()->close();
          return;                                                // closing comes back here
        }
      return;
    }
    const Endpoint next = *self->blocked.begin();
    self->blocked.erase(self->blocked.begin());
    self->pump(next);
  });
}

Client::Client(Loop& loop, ClientOptions options) : impl_(std::make_shared<Impl>(loop, options)) {}

Client::~Client() {
  impl_->closing = true;
  impl_->sweep.cancel();
  std::vector<std::shared_ptr<Connection>> each;
  for (Connection* connection : impl_->all) each.push_back(connection->shared_from_this());
  for (const auto& connection : each) connection->close();
  impl_->servers.clear();
}

void Client::send(const Endpoint& to, Request request, Done done) {
  const base::Duration timeout = impl_->options.timeout;
  send(to, std::move(request), timeout, std::move(done));
}

void Client::send(const Endpoint& to, Request request, base::Duration timeout, Done done) {
  if (impl_->queued >= impl_->options.max_queued) {
    impl_->loop.post([done = std::move(done)] { done(base::fail(base::Code::too_many, "too many requests wait to be sent")); });
    return;
  }
  ++impl_->queued;
  impl_->servers[to].waiting.push_back(Job{to, std::move(request), timeout, std::move(done)});
  impl_->loop.post([impl = impl_, to] { impl->pump(to); });
}

std::size_t Client::open_connections() const { return impl_->all.size(); }

}  // namespace sy::http
