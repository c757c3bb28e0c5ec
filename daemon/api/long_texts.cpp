#include "daemon/api/long_texts.hpp"

namespace sy::daemon {

namespace {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

  const char* here() const { return at_; }
  bool over() const { return at_ == end_; }

  bool take(char c) {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  // From behind the opening quote to behind the closing one.
  bool string(std::string& out) {
    while (true) {
      const char* begin = at_;
      while (at_ != end_ && is_plain(*at_)) ++at_;
      out.append(begin, at_);
      if (at_ == end_) return false;
      if (*at_ == '"') return ++at_, true;
      if (*at_ != '\\' || ++at_ == end_) return false;
      static constexpr std::string_view from = "\"\\/bfnrt", becomes = "\"\\/\b\f\n\r\t";
      const auto which = from.find(*at_++);
      if (which == std::string_view::npos) return false;
      out += becomes[which];
    }
  }

  bool strings(std::vector<std::string>& out) {
    if (take(']')) return true;
    do {
      if (!take('"') || !string(out.emplace_back())) return false;
    } while (take(','));
    return take(']');
  }

  // To the comma or bracket behind a value of any kind. What it skips is parsed later: brackets need not match here.
  bool skip_value() {
    for (int depth = 0; at_ != end_; ++at_) {
      if (*at_ == '"') {
        while (++at_ != end_ && *at_ != '"')
          if (*at_ == '\\' && ++at_ == end_) return false;
        if (at_ == end_) return false;
      } else if (*at_ == '{' || *at_ == '[') {
        ++depth;
      } else if (*at_ == '}' || *at_ == ']') {
        if (depth-- == 0) return true;
      } else if (*at_ == ',' && depth == 0) {
        return true;
      }
    }
    return false;
  }

 private:
  static bool is_plain(char c) { return c >= 0x20 && c != '"' && c != '\\'; }  // a byte above 0x7f is negative here
  static_assert(static_cast<char>(0x80) < 0);

  const char* at_;
  const char* end_;
};

}  // namespace

std::optional<LongTexts> take_out_long_texts(std::string_view body) {
  LongTexts out;
  Scanner scan(body);
  const char* kept = body.data();  // up to here the rest has everything
  const auto leave_out = [&](const char* begin, std::string_view instead) {
    out.rest.append(kept, begin).append(instead);
    kept = scan.here();
  };
  if (!scan.take('{')) return std::nullopt;
  do {
    std::string name;
    if (!scan.take('"') || !scan.string(name) || !scan.take(':')) return std::nullopt;
    const char* begin = scan.here();
    if (name == "script" && scan.take('"')) {
      if (out.script || !scan.string(out.script.emplace())) return std::nullopt;
      leave_out(begin, "\"\"");
    } else if (name == "environment" && scan.take('[')) {
      if (out.environment || !scan.strings(out.environment.emplace())) return std::nullopt;
      leave_out(begin, "[]");
    } else if (!scan.skip_value()) {
      return std::nullopt;
    }
  } while (scan.take(','));
  out.rest.append(kept, body.data() + body.size());
  return out;
}

}  // namespace sy::daemon
