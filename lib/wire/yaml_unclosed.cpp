#include "wire/yaml_unclosed.hpp"

#include <algorithm>
#include <vector>

namespace sy::wire {
namespace {

constexpr std::string_view blanks = " \t\r\n";
bool is_blank(char c) { return blanks.find(c) != std::string_view::npos; }

// The position behind the closing quote; npos: there is none. 'it''s' and "a\"b" go on.
std::size_t behind_quote(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (++at; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') ++at;
    else if (text[at] == quote) {
      if (quote == '"' || at + 1 >= text.size() || text[at + 1] != quote) return at + 1;
      ++at;
    }
  }
  return std::string_view::npos;
}

// Blanks, comments, anchors and tags.
std::size_t skip_before_value(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    if (is_blank(text[at])) ++at;
    else if (text[at] == '#') at = std::min(text.find('\n', at), text.size());
    else if (text[at] == '&' || text[at] == '!') at = std::min(text.find_first_of(blanks, at), text.size());
    else break;
  }
  return at;
}

}  // namespace

std::optional<std::size_t> unclosed_in(std::string_view text, std::size_t from) {
  std::vector<std::size_t> open;  // the brackets around
  bool in_word = false;           // quotes inside a plain word, as in it's, are letters
  std::size_t at = skip_before_value(text, from);
  while (at < text.size()) {
    const char c = text[at];
    if (!in_word && (c == '"' || c == '\'')) {
      const auto behind = behind_quote(text, at);
      if (behind == std::string_view::npos) return at;
      at = behind;
    } else if (c == '[' || c == '{') {
      if (in_word && open.empty()) return std::nullopt;
      open.push_back(at++);
      in_word = false;
    } else if (c == ']' || c == '}') {
      if (open.empty()) return std::nullopt;
      if ((c == ']') != (text[open.back()] == '[')) return open.back();
      open.pop_back();
      ++at;
      in_word = false;
    } else if (c == '#' && at > 0 && is_blank(text[at - 1])) {
      at = std::min(text.find('\n', at), text.size());
    } else if (!in_word && (c == '&' || c == '!')) {
      at = std::min(text.find_first_of(" \t\r\n,[]{}", at), text.size());
    } else {
      // A ':' ends a word only where a blank or a bracket follows; behind a quote it always does.
      const bool ends = c == ',' || (c == ':' && (!in_word || at + 1 >= text.size() || is_blank(text[at + 1]) ||
                                                  std::string_view{",[]{}"}.find(text[at + 1]) != std::string_view::npos));
      if (ends) in_word = false;
      else if (!is_blank(c)) in_word = true;
      ++at;
    }
    if (open.empty()) return std::nullopt;
  }
  if (open.empty()) return std::nullopt;
  return open.back();
}

}  // namespace sy::wire
