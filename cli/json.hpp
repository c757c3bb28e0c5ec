// A read-only view of a JSON text, made in one pass: values point into the text, so that a list of 50,000 jobs costs little
// more than reading it. Not for writing (json_writer.hpp) and not for what others' requests may contain (wire).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace sy::cli {

class JsonDocument;

// One value of a document, which must outlive it. A missing member is a null: lookups chain without checks.
class Json {
 public:
  Json() = default;

  bool is_null() const;
  bool is_string() const;
  bool is_number() const;
  bool is_object() const;
  bool is_array() const;
  explicit operator bool() const { return !is_null(); }

  // The value, or the fallback when it is something else.
  std::string_view text(std::string_view fallback = {}) const;
  std::int64_t integer(std::int64_t fallback = 0) const;  // numbers with a fraction are cut
  double number(double fallback = 0) const;
  bool boolean(bool fallback = false) const;

  Json operator[](std::string_view member) const;
  std::size_t size() const;      // members or elements
  std::string_view raw() const;  // its JSON text as received

  template <class F>
  void for_each(F&& f) const;  // f(Json) over the elements of an array
  template <class F>
  void for_each_member(F&& f) const;  // f(std::string_view, Json) over an object

 private:
  friend class JsonDocument;
  Json(const JsonDocument* document, std::uint32_t index) : document_(document), index_(index) {}
  const JsonDocument* document_{};
  std::uint32_t index_{};
};

class JsonDocument {
 public:
  // At most 64 levels deep. Errors name the byte.
  static base::Result<JsonDocument> parse(std::string text);
  JsonDocument(JsonDocument&&) noexcept;
  JsonDocument& operator=(JsonDocument&&) noexcept;
  Json root() const { return {this, 0}; }

 private:
  friend class Json;
  friend class JsonParser;
  enum class Kind : std::uint8_t { null, boolean, number, string, array, object };
  // In the order of the text; a container's contents follow it and end before `next`. Objects alternate key, value.
  struct Value {
    const char* begin;
    std::uint32_t length;
    std::uint32_t next;
    Kind kind;
  };
  JsonDocument() = default;
  std::unique_ptr<std::string> text_;
  std::vector<Value> values_;
  std::deque<std::string> unescaped_;  // strings that had escapes
};

template <class F>
void Json::for_each(F&& f) const {
  if (!is_array()) return;
  const auto& values = document_->values_;
  for (std::uint32_t i = index_ + 1; i < values[index_].next; i = values[i].next) f(Json{document_, i});
}

template <class F>
void Json::for_each_member(F&& f) const {
  if (!is_object()) return;
  const auto& values = document_->values_;
  for (std::uint32_t i = index_ + 1; i < values[index_].next; i = values[i + 1].next)
    f(std::string_view{values[i].begin, values[i].length}, Json{document_, i + 1});
}

}  // namespace sy::cli
