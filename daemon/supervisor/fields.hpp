// The text form of small records between agent and supervisor: "key length\nbytes\n" repeated, so that any bytes travel
// without escapes and a supervisor needs no JSON. Not for the network: JSON in lib/wire is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sy::supervisor {

class Fields {
 public:
  // nullopt when the text is cut short or malformed.
  static std::optional<Fields> parse(std::string_view text);

  void add(std::string_view key, std::string_view value) { all_.emplace_back(key, value); }
  void add_number(std::string_view key, std::int64_t value) { add(key, std::to_string(value)); }
  std::string text() const;

  bool has(std::string_view key) const;
  std::string get(std::string_view key) const;               // the first of that key; "" when absent
  std::int64_t number(std::string_view key) const;           // 0 when absent or not a number
  std::vector<std::string> all(std::string_view key) const;  // in order

 private:
  std::vector<std::pair<std::string, std::string>> all_;
};

}  // namespace sy::supervisor
