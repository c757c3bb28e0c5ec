// Writes JSON text in order: open, name, value, close. Commas and escapes are its business.
// Not a value that can be changed afterwards, and not a reader (json.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sy::cli {

class JsonWriter {
 public:
  JsonWriter& object() { return open('{'); }
  JsonWriter& array() { return open('['); }
  JsonWriter& close();                 // the innermost
  JsonWriter& name(std::string_view);  // inside an object, before its value

  JsonWriter& value(std::string_view);
  JsonWriter& value(const char* s) { return value(std::string_view{s}); }
  JsonWriter& value(const std::string& s) { return value(std::string_view{s}); }
  JsonWriter& value(bool b) { return raw(b ? "true" : "false"); }
  template <class N>
    requires(std::is_integral_v<N> && !std::is_same_v<N, bool>)
  JsonWriter& value(N n) {
    return raw(std::to_string(n));
  }
  JsonWriter& value(double);
  JsonWriter& null() { return raw("null"); }
  JsonWriter& raw(std::string_view json);  // text that is JSON already

  template <class V>
  JsonWriter& member(std::string_view key, const V& v) {
    return name(key).value(v);
  }
  template <class List>
  JsonWriter& list(std::string_view key, const List& values) {
    name(key).array();
    for (const auto& v : values) value(v);
    return close();
  }

  const std::string& text() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  JsonWriter& open(char bracket);
  void before_value();
  std::string text_;
  std::vector<char> open_;  // closing brackets still owed
  bool first_{true};
  bool named_{};
};

// Are these bytes valid UTF-8? Only such text may travel as a JSON string.
bool is_utf8(std::string_view);
std::string base64(std::string_view bytes);

}  // namespace sy::cli
