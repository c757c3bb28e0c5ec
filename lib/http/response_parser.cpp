#include "http/response_parser.hpp"

#include <charconv>

namespace sy::http {

namespace {
constexpr std::size_t max_head = 64 * 1024;
constexpr std::size_t max_line = 1024;

tl::unexpected<base::Error> bad(std::string what) {
  return base::fail(base::Code::unavailable, "the answer is not HTTP: " + std::move(what));
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool parse_number(std::string_view text, int radix, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, radix);
  return error == std::errc{} && !text.empty() && end == text.data() + text.size();
}
}  // namespace

ResponseParser::ResponseParser(bool head_request, std::size_t max_body) : head_request_(head_request), max_body_(max_body) {
  response_.content_type.clear();
}

base::Result<void> ResponseParser::feed(std::string_view bytes) {
  if (bytes.empty()) return {};
  started_ = true;
  if (state_ == State::done) return bad("bytes after its end");
  pending_.append(bytes);
  return consume();
}

base::Result<void> ResponseParser::finish() {
  if (state_ == State::until_close) state_ = State::done;
  if (state_ == State::done) return {};
  return base::fail(base::Code::unavailable,
                    started_ ? "the connection closed in the middle of the answer" : "the connection closed before an answer");
}

base::Result<void> ResponseParser::consume() {
  while (state_ != State::done) {
    if (state_ == State::head) {
      const std::size_t end = pending_.find("\r\n\r\n", at_);
      if ((end == std::string::npos ? pending_.size() : end) - at_ > max_head) return bad("its header is too large");
      if (end == std::string::npos) break;
      const std::string head = pending_.substr(at_, end + 2 - at_);
      at_ = end + 4;
      if (auto read = read_head(head); !read) return read;
    } else if (state_ == State::body || state_ == State::until_close) {
      const std::size_t here = pending_.size() - at_;
      const std::size_t part = state_ == State::body && remaining_ < here ? static_cast<std::size_t>(remaining_) : here;
      if (response_.body.size() + part > max_body_) return bad("its body is too large");
      response_.body.append(pending_, at_, part);
      at_ += part;
      if (state_ == State::body && (remaining_ -= part) == 0) state_ = State::done;
      else break;
    } else {
      auto more = read_chunk_part();
      if (!more) return base::fail(more.error());
      if (!*more) break;
    }
  }
  pending_.erase(0, at_);
  at_ = 0;
  if (state_ == State::done && !pending_.empty()) return bad("bytes after its end");
  return {};
}

base::Result<void> ResponseParser::read_head(std::string_view head) {
  const std::size_t line_end = head.find("\r\n");
  const std::string_view status_line = head.substr(0, line_end);
  std::uint64_t status = 0;
  if (status_line.size() < 12 || !status_line.starts_with("HTTP/1.") || (status_line[7] != '0' && status_line[7] != '1') ||
      status_line[8] != ' ' || !parse_number(status_line.substr(9, 3), 10, status) || status < 100 || status > 599)
    return bad("its first line");
  response_ = {};
  response_.content_type.clear();
  response_.status = static_cast<int>(status);
  old_version_ = status_line[7] == '0';
  head.remove_prefix(line_end + 2);
  while (!head.empty()) {
    const std::size_t end = head.find("\r\n");
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(end + 2);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0 || line.front() == ' ' || line.front() == '\t') return bad("a header line");
    response_.headers.emplace_back(std::string(line.substr(0, colon)), std::string(trim(line.substr(colon + 1))));
  }
  return read_framing();
}

base::Result<void> ResponseParser::read_framing() {
  response_.content_type = std::string(response_.header("Content-Type"));
  const std::string_view connection = response_.header("Connection");
  keep_alive_ = old_version_ ? same_header(connection, "keep-alive") : !same_header(connection, "close");
  if (response_.status < 200) {  // an interim answer: the real one follows
    state_ = State::head;
    return {};
  }
  if (head_request_ || response_.status == 204 || response_.status == 304) {
    state_ = State::done;
    return {};
  }
  const std::string* length = find_header(response_.headers, "Content-Length");
  if (const std::string* coding = find_header(response_.headers, "Transfer-Encoding"); coding != nullptr) {
    if (length != nullptr || !same_header(*coding, "chunked")) return bad("its transfer encoding");
    state_ = State::chunk_size;
  } else if (length != nullptr) {
    if (!parse_number(*length, 10, remaining_)) return bad("its length");
    if (remaining_ > max_body_) return bad("its body is too large");
    state_ = remaining_ == 0 ? State::done : State::body;
  } else {
    keep_alive_ = false;
    state_ = State::until_close;
  }
  return {};
}

base::Result<bool> ResponseParser::read_line(std::string_view& line) {
  const std::size_t end = pending_.find("\r\n", at_);
  if ((end == std::string::npos ? pending_.size() : end) - at_ > max_line) return bad("a line is too long");
  if (end == std::string::npos) return false;
  line = std::string_view(pending_).substr(at_, end - at_);
  at_ = end + 2;
  return true;
}

base::Result<bool> ResponseParser::read_chunk_part() {
  if (state_ == State::chunk_data) {
    const std::size_t here = pending_.size() - at_;
    const std::size_t part = remaining_ < here ? static_cast<std::size_t>(remaining_) : here;
    if (response_.body.size() + part > max_body_) return bad("its body is too large");
    response_.body.append(pending_, at_, part);
    at_ += part;
    remaining_ -= part;
    if (remaining_ > 0) return false;
    state_ = State::chunk_end;
    return true;
  }
  std::string_view line;
  auto whole = read_line(line);
  if (!whole || !*whole) return whole;
  if (state_ == State::chunk_size) {
    if (!parse_number(trim(line.substr(0, line.find(';'))), 16, remaining_)) return bad("the size of a chunk");
    state_ = remaining_ == 0 ? State::trailer : State::chunk_data;
  } else if (state_ == State::chunk_end) {
    if (!line.empty()) return bad("the end of a chunk");
    state_ = State::chunk_size;
  } else if (line.empty()) {
    state_ = State::done;
  } else if ((trailer_bytes_ += line.size()) > max_head) {
    return bad("its trailer is too large");
  }
  return true;
}

std::string request_head(const Request& request, const Endpoint& to, bool keep_alive) {
  std::string head = request.method + " " + request.target + " HTTP/1.1\r\nHost: ";
  head += to.path.empty() ? to_text(to) : "localhost";
  head += "\r\n";
  if (!request.body.empty() || request.method == "POST" || request.method == "PUT" || request.method == "PATCH")
    head += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
  for (const auto& [name, value] : request.headers) {
    if (name.find_first_of("\r\n:") != std::string::npos || value.find_first_of("\r\n") != std::string::npos) continue;
    head.append(name).append(": ").append(value).append("\r\n");
  }
  if (!keep_alive) head += "Connection: close\r\n";
  return head + "\r\n";
}

}  // namespace sy::http
