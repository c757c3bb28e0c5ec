#include "http/detail/session.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>

#include "http/problem.hpp"

namespace sy::http {

namespace beast_http = boost::beast::http;
using base::Code;
using base::Error;

Responder::Exchange::~Exchange() {
  if (!answered_) answer(problem(Error{Code::internal, "the request was dropped without an answer", {}, {}, {}, {}}));
}

Session::Session(std::shared_ptr<Server::Impl> server, Socket socket, Peer peer)
    : server_(std::move(server)),
      socket_(std::move(socket)),
      peer_(std::move(peer)),
      buffer_(server_->options.max_header_bytes + 64 * 1024) {}

Session::~Session() = default;

void Session::start() {
  if (peer_.local) ++server_->open_by_user[peer_.uid];
  all_place = server_->all.insert(server_->all.end(), this);
  idle_place = server_->idle.insert(server_->idle.end(), this);
  next_request();
}

void Session::close() {
  if (phase_ == Phase::closed) return;
  if (phase_ == Phase::idle) server_->idle.erase(idle_place);
  phase_ = Phase::closed;
  charge(0);
  ErrorCode ignored;
  socket_.close(ignored);
  server_->all.erase(all_place);
  if (peer_.local && --server_->open_by_user[peer_.uid] == 0) server_->open_by_user.erase(peer_.uid);
  server_->left();
}

void Session::enter(Phase phase, base::Duration limit) {
  if (phase_ == Phase::idle && phase != Phase::idle) server_->idle.erase(idle_place);
  if (phase_ != Phase::idle && phase == Phase::idle) idle_place = server_->idle.insert(server_->idle.end(), this);
  phase_ = phase;
  since_ = std::chrono::steady_clock::now();
  deadline_ = since_ + limit;
}

void Session::tick(Moment now) {
  if (phase_ == Phase::handling && !watching_ && now - since_ > std::chrono::seconds{1}) watch_for_hangup();
  if (now < deadline_) return;
  const auto self = shared_from_this();
  if (phase_ == Phase::handling) {
    answer(number_, problem(Error{Code::unavailable, "the request took too long", {}, {}, {}, "try again"}));
    return;
  }
  ++server_->counters.timed_out;
  if (phase_ == Phase::header || phase_ == Phase::body) {
    refuse(problem(408, Error{Code::invalid_argument, "the request did not arrive in time", {}, {}, {}, {}}));
    return;
  }
  close();
}

// Bodies in memory, all connections together, have one budget.
void Session::charge(std::size_t bytes) {
  server_->counters.buffered_bytes += bytes;
  server_->counters.buffered_bytes -= charged_;
  charged_ = bytes;
}

void Session::next_request() {
  charge(0);
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(server_->options.max_header_bytes));
  parser_->body_limit(server_->options.max_body_bytes);
  header_seen_ = false;
  watching_ = false;
  enter(Phase::idle, server_->options.idle_timeout);
  if (buffer_.size() == 0 && buffer_.capacity() > 16 * 1024) buffer_.shrink_to_fit();  // idle connections stay small
  advance();
}

void Session::read_some() {
  const std::size_t room = phase_ == Phase::body ? 64 * 1024 : 4096;
  const std::size_t size = std::min(room, buffer_.max_size() - buffer_.size());
  socket_.async_read_some(buffer_.prepare(size), [self = shared_from_this()](ErrorCode error, std::size_t count) {
    if (self->phase_ != Phase::idle && self->phase_ != Phase::header && self->phase_ != Phase::body) return;
    if (error) {
      self->close();
      return;
    }
    self->buffer_.commit(count);
    self->advance();
  });
}

void Session::advance() {
  while (true) {
    if (buffer_.size() == 0) {
      read_some();
      return;
    }
    if (phase_ == Phase::idle) enter(Phase::header, server_->options.header_timeout);
    ErrorCode error;
    const std::size_t used = parser_->put(buffer_.data(), error);
    buffer_.consume(used);
    if (error == beast_http::error::need_more) {
      read_some();
      return;
    }
    if (error) {
      ++server_->counters.malformed;
      if (error == beast_http::error::header_limit)
        refuse(problem(431, Error{Code::too_large,
                                  "the request's header is too large",
                                  "header",
                                  fmt::format("{} bytes", server_->options.max_header_bytes),
                                  {},
                                  {}}));
      else if (error == beast_http::error::body_limit)
        refuse(problem(Error{
            Code::too_large, "the request's body is too large", "body", fmt::format("{} bytes", server_->options.max_body_bytes), {}, {}}));
      else refuse(problem(Error{Code::invalid_argument, "this is not HTTP/1.1: " + error.message(), "request", {}, {}, {}}));
      return;
    }
    if (!header_seen_ && parser_->is_header_done()) {
      header_seen_ = true;
      if (!header_accepted()) return;
    }
    if (parser_->is_done()) {
      dispatch();
      return;
    }
  }
}

bool Session::header_accepted() {
  const auto& message = parser_->get();
  head_request_ = message.method() == beast_http::verb::head;
  old_version_ = message.version() < 11;
  keep_alive_ = parser_->keep_alive();
  if (message.count(beast_http::field::content_length) > 0 && message.count(beast_http::field::transfer_encoding) > 0) {
    ++server_->counters.malformed;  // two lengths: what one reader takes for a body the next takes for a request
    refuse(problem(Error{Code::invalid_argument, "a request has a length or is chunked, not both", "Transfer-Encoding", {}, {}, {}}));
    return false;
  }
  if (parser_->is_done()) return true;
  const auto length = parser_->content_length();
  const std::size_t expected = length ? static_cast<std::size_t>(*length) : server_->options.max_body_bytes;
  if (length && *length > server_->options.max_body_bytes) {
    ++server_->counters.malformed;
    refuse(problem(Error{Code::too_large,
                         "the request's body is too large",
                         "body",
                         fmt::format("{} bytes", server_->options.max_body_bytes),
                         fmt::format("{} bytes", *length),
                         {}}));
    return false;
  }
  if (server_->counters.buffered_bytes + expected > server_->options.max_buffered_bytes) {
    refuse(problem(Error{Code::unavailable, "too many large requests at once", "body", {}, {}, "try again"}));
    return false;
  }
  charge(expected);
  parser_->eager(true);
  enter(Phase::body, server_->options.body_timeout);
  if (boost::beast::iequals(message[beast_http::field::expect], "100-continue")) {
    say_continue();
    return false;
  }
  return true;
}

void Session::say_continue() {
  static constexpr std::string_view text = "HTTP/1.1 100 Continue\r\n\r\n";
  asio::async_write(socket_, asio::buffer(text), [self = shared_from_this()](ErrorCode error, std::size_t) {
    if (self->phase_ != Phase::body) return;
    if (error) self->close();
    else self->advance();
  });
}

void Session::dispatch() {
  auto message = parser_->release();
  Request request;
  request.method = std::string(message.method_string());
  request.target = std::string(message.target());
  for (const auto& field : message) request.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
  request.body = std::move(message.body());
  request.peer = peer_;
  ++number_;
  ++server_->counters.requests;
  enter(Phase::handling, server_->options.handler_timeout);
  const auto self = shared_from_this();
  Responder responder(std::make_shared<Responder::Exchange>(self, number_));
  try {
    server_->handler(std::move(request), responder);
  } catch (const std::exception& e) {
    answer(number_, problem(Error{Code::internal, std::string("the request could not be handled: ") + e.what(), {}, {}, {}, {}}));
  }
}

void Session::answer(std::uint64_t number, Response response) {
  if (!waits_for(number)) return;
  close_ = response.close || !keep_alive_ || draining_;
  write(std::move(response), head_request_);
}

void Session::refuse(Response response) {
  close_ = true;
  lingered_ = 1;  // more may be under way: read it before closing, or a reset overtakes the reply
  write(std::move(response), false);
}

void Session::write(Response response, bool head_only) {
  enter(Phase::writing, server_->options.write_timeout);
  head_ = fmt::format("HTTP/1.1 {} {}\r\nContent-Length: {}\r\n", response.status, reason_phrase(response.status), response.body.size());
  const auto add = [this](std::string_view name, std::string_view value) {
    if (name.find_first_of("\r\n:") != std::string_view::npos || value.find_first_of("\r\n") != std::string_view::npos) return;
    head_.append(name).append(": ").append(value).append("\r\n");
  };
  if (!response.content_type.empty()) add("Content-Type", response.content_type);
  for (const auto& [name, value] : response.headers) add(name, value);
  if (close_) add("Connection", "close");
  else if (old_version_) add("Connection", "keep-alive");
  head_ += "\r\n";
  body_ = head_only ? std::string{} : std::move(response.body);
  const std::array<asio::const_buffer, 2> buffers{asio::buffer(head_), asio::buffer(body_)};
  asio::async_write(socket_, buffers, [self = shared_from_this()](ErrorCode error, std::size_t) {
    if (self->phase_ != Phase::writing) return;
    if (error) self->close();
    else self->written();
  });
}

void Session::written() {
  if (body_.capacity() > 64 * 1024) std::string{}.swap(body_);
  if (!close_ && !draining_) {
    next_request();
  } else if (lingered_ > 0) {
    ErrorCode ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
    charge(0);
    enter(Phase::lingering, base::seconds{5});
    linger();
  } else {
    close();
  }
}

void Session::linger() {
  constexpr std::size_t enough = 64 * 1024 * 1024;
  buffer_.clear();
  socket_.async_read_some(buffer_.prepare(16 * 1024), [self = shared_from_this()](ErrorCode error, std::size_t count) {
    if (self->phase_ != Phase::lingering) return;
    self->lingered_ += count;
    if (error || self->lingered_ > enough) self->close();
    else self->linger();
  });
}

// While a reply is deferred nothing is read, so a client that leaves would go unnoticed until its poll is over.
void Session::watch_for_hangup() {
  watching_ = true;
  socket_.async_wait(Socket::wait_read, [self = shared_from_this(), number = number_](ErrorCode error) {
    if (error || !self->waits_for(number)) return;
    char byte = 0;
    if (::recv(self->socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0) self->close();
  });
}

}  // namespace sy::http
