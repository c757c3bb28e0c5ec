#include "cli/json.hpp"

#include <charconv>
#include <cstdlib>

namespace sy::cli {

class JsonParser {
 public:
  JsonParser(JsonDocument& document, const std::string& text)
      : document_(document), begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {}

  base::Result<void> parse() {
    if (!value(0) || (skip_blanks(), at_ != end_))
      return base::fail(base::Code::internal, "the answer is not JSON at byte " + std::to_string(at_ - begin_));
    return {};
  }

 private:
  using Kind = JsonDocument::Kind;
  static constexpr int max_depth = 64;

  void skip_blanks() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }

  std::uint32_t open(Kind kind) {
    document_.values_.push_back({at_, 0, 0, kind});
    return static_cast<std::uint32_t>(document_.values_.size() - 1);
  }
  void close(std::uint32_t index) {
    auto& v = document_.values_[index];
    v.length = static_cast<std::uint32_t>(at_ - v.begin);
    v.next = static_cast<std::uint32_t>(document_.values_.size());
  }

  bool word(std::string_view expected, Kind kind) {
    if (static_cast<std::size_t>(end_ - at_) < expected.size() || std::string_view{at_, expected.size()} != expected) return false;
    const auto index = open(kind);
    at_ += expected.size();
    close(index);
    return true;
  }

  bool number() {
    const auto index = open(Kind::number);
    const char* start = at_;
    while (at_ != end_ && ((*at_ >= '0' && *at_ <= '9') || *at_ == '-' || *at_ == '+' || *at_ == '.' || *at_ == 'e' || *at_ == 'E')) ++at_;
    close(index);
    return at_ != start;
  }

  bool hex4(std::uint32_t& code) {
    if (end_ - at_ < 4) return false;
    const auto [p, fault] = std::from_chars(at_, at_ + 4, code, 16);
    if (fault != std::errc{} || p != at_ + 4) return false;
    at_ += 4;
    return true;
  }

  static void append_utf8(std::string& to, std::uint32_t code) {
    const auto byte = [&](std::uint32_t b) { to += static_cast<char>(b); };
    if (code < 0x80U) return byte(code);
    if (code < 0x800U) return byte(0xC0U | code >> 6U), byte(0x80U | (code & 0x3FU));
    if (code < 0x10000U) return byte(0xE0U | code >> 12U), byte(0x80U | (code >> 6U & 0x3FU)), byte(0x80U | (code & 0x3FU));
    byte(0xF0U | code >> 18U), byte(0x80U | (code >> 12U & 0x3FU)), byte(0x80U | (code >> 6U & 0x3FU)), byte(0x80U | (code & 0x3FU));
  }

  bool escape(std::string& to) {
    if (at_ == end_) return false;
    static constexpr std::string_view from = "\"\\/bfnrt", becomes = "\"\\/\b\f\n\r\t";
    const char c = *at_++;
    if (const auto i = from.find(c); i != std::string_view::npos) return to += becomes[i], true;
    std::uint32_t code = 0;
    if (c != 'u' || !hex4(code)) return false;
    if (code >= 0xD800U && code < 0xDC00U) {
      std::uint32_t low = 0;
      if (end_ - at_ < 6 || at_[0] != '\\' || at_[1] != 'u') return false;
      at_ += 2;
      if (!hex4(low) || low < 0xDC00U || low > 0xDFFFU) return false;
      code = 0x10000U + ((code - 0xD800U) << 10U) + (low - 0xDC00U);
    }
    append_utf8(to, code);
    return true;
  }

  bool string() {
    ++at_;
    const auto index = open(Kind::string);
    while (at_ != end_ && *at_ != '"' && *at_ != '\\') ++at_;
    if (at_ != end_ && *at_ == '"') {
      close(index);
      ++at_;
      return true;
    }
    std::string decoded{document_.values_[index].begin, at_};
    while (at_ != end_ && *at_ != '"') {
      if (*at_ != '\\') decoded += *at_++;
      else if (++at_; !escape(decoded)) return false;
    }
    if (at_ == end_) return false;
    ++at_;
    close(index);
    const auto& kept = document_.unescaped_.emplace_back(std::move(decoded));
    document_.values_[index].begin = kept.data();
    document_.values_[index].length = static_cast<std::uint32_t>(kept.size());
    return true;
  }

  bool container(char closing, int depth) {
    const auto index = open(closing == '}' ? Kind::object : Kind::array);
    ++at_;
    for (bool first = true;; first = false) {
      skip_blanks();
      if (at_ == end_) return false;
      if (*at_ == closing && first) break;
      if (closing == '}') {
        if (*at_ != '"' || !string()) return false;
        skip_blanks();
        if (at_ == end_ || *at_++ != ':') return false;
      }
      if (!value(depth + 1)) return false;
      skip_blanks();
      if (at_ == end_) return false;
      if (*at_ == closing) break;
      if (*at_++ != ',') return false;
    }
    ++at_;
    close(index);
    return true;
  }

  bool value(int depth) {
    skip_blanks();
    if (at_ == end_ || depth > max_depth) return false;
    switch (*at_) {
      case '{': return container('}', depth);
      case '[': return container(']', depth);
      case '"': return string();
      case 't': return word("true", Kind::boolean);
      case 'f': return word("false", Kind::boolean);
      case 'n': return word("null", Kind::null);
      default: return number();
    }
  }

  JsonDocument& document_;
  const char* begin_;
  const char* at_;
  const char* end_;
};

JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&&) noexcept = default;

base::Result<JsonDocument> JsonDocument::parse(std::string text) {
  JsonDocument document;
  if (text.size() >= 0xFFFFFFFFULL) return base::fail(base::Code::too_large, "the answer is larger than 4 GiB");
  document.text_ = std::make_unique<std::string>(std::move(text));
  document.values_.reserve(document.text_->size() / 12 + 16);
  if (auto parsed = JsonParser{document, *document.text_}.parse(); !parsed) return base::fail(parsed.error());
  return document;
}

bool Json::is_null() const { return document_ == nullptr || document_->values_[index_].kind == JsonDocument::Kind::null; }
bool Json::is_string() const { return document_ != nullptr && document_->values_[index_].kind == JsonDocument::Kind::string; }
bool Json::is_number() const { return document_ != nullptr && document_->values_[index_].kind == JsonDocument::Kind::number; }
bool Json::is_object() const { return document_ != nullptr && document_->values_[index_].kind == JsonDocument::Kind::object; }
bool Json::is_array() const { return document_ != nullptr && document_->values_[index_].kind == JsonDocument::Kind::array; }

std::string_view Json::raw() const {
  if (document_ == nullptr) return "null";
  const auto& v = document_->values_[index_];
  return {v.begin, v.length};
}

std::string_view Json::text(std::string_view fallback) const { return is_string() ? raw() : fallback; }

std::int64_t Json::integer(std::int64_t fallback) const {
  if (!is_number()) return fallback;
  const auto digits = raw();
  std::int64_t n = 0;
  const auto [p, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  if (fault != std::errc{}) return fallback;
  return p == digits.data() + digits.size() ? n : static_cast<std::int64_t>(number());
}

double Json::number(double fallback) const {
  if (!is_number()) return fallback;
  const auto digits = raw();
  double n = 0;
  const auto [p, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  return fault == std::errc{} ? n : fallback;
}

bool Json::boolean(bool fallback) const {
  if (document_ == nullptr || document_->values_[index_].kind != JsonDocument::Kind::boolean) return fallback;
  return raw() == "true";
}

Json Json::operator[](std::string_view member) const {
  if (!is_object()) return {};
  const auto& values = document_->values_;
  for (std::uint32_t i = index_ + 1; i < values[index_].next; i = values[i + 1].next)
    if (values[i].length == member.size() && std::string_view{values[i].begin, values[i].length} == member) return {document_, i + 1};
  return {};
}

std::size_t Json::size() const {
  std::size_t n = 0;
  for_each([&](Json) { ++n; });
  for_each_member([&](std::string_view, Json) { ++n; });
  return n;
}

}  // namespace sy::cli
