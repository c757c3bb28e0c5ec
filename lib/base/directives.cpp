#include "base/directives.hpp"

#include <fmt/format.h>

namespace sy::base {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' || c == '\n'; }

// Calls f(number, text) for each line, without its line end; stops when f returns false.
template <class F>
void for_each_line(std::string_view script, F&& f) {
  std::size_t number = 0, at = 0;
  while (at < script.size()) {
    std::size_t end = script.find('\n', at);
    if (end == std::string_view::npos) end = script.size();
    std::string_view line = script.substr(at, end - at);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (!f(++number, line)) return;
    at = end + 1;
  }
}

bool is_directive(std::string_view line, std::string_view marker) {
  return line.starts_with(marker) && (line.size() == marker.size() || is_blank(line[marker.size()]));
}

// Blank or a comment: what may stand between directives.
bool is_passive(std::string_view line) {
  for (char c : line)
    if (!is_blank(c)) return c == '#';
  return true;
}

bool separates_components(const std::vector<std::string>& words) {
  return words.size() == 1 && (words[0] == "hetjob" || words[0] == "packjob");
}

}  // namespace

Result<std::vector<std::string>> split_words(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  std::size_t quote_at = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == '\'') {
      if (c == '\'') quote = 0;
      else word += c;
    } else if (quote == '"') {
      const char next = i + 1 < line.size() ? line[i + 1] : '\0';
      if (c == '"') {
        quote = 0;
      } else if (c == '\\' && (next == '"' || next == '\\' || next == '$' || next == '`')) {
        word += next;
        ++i;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      quote_at = i;
      in_word = true;
    } else if (c == '\\') {
      if (i + 1 == line.size()) break;  // a line "continued": there is nothing to take in
      word += line[++i];
      in_word = true;
    } else if (c == '#') {
      break;
    } else if (is_blank(c)) {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote != 0)
    return fail(Error{Code::invalid_argument,
                      fmt::format("the quote {} at character {} is never closed", quote, quote_at + 1),
                      {},
                      {},
                      std::string(line.substr(quote_at, 80)),
                      fmt::format("close it with another {}", quote)});
  if (in_word) words.push_back(std::move(word));
  return words;
}

Result<Directives> read_directives(std::string_view script, std::string_view marker) {
  Directives out;
  bool commands = false;
  Error fault;
  bool failed = false;
  for_each_line(script, [&](std::size_t number, std::string_view line) {
    if (is_directive(line, marker)) {
      if (commands) {
        out.ignored_lines.push_back(number);
        return true;
      }
      auto words = split_words(line.substr(marker.size()));
      if (!words) {
        fault = words.error();
        fault.field = fmt::format("line {}", number);
        failed = true;
        return false;
      }
      if (separates_components(*words)) out.components.emplace_back();
      else if (!words->empty()) out.components.back().push_back({number, std::move(*words)});
    } else if (!is_passive(line)) {
      commands = true;
    }
    return true;
  });
  if (failed) return fail(std::move(fault));
  return out;
}

Result<void> check_script(std::string_view script) {
  const auto refuse = [](Code code, std::string message, std::string hint) {
    return fail(Error{code, std::move(message), "script", {}, {}, std::move(hint)});
  };
  if (script.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos)
    return refuse(Code::invalid_argument, "the batch script is empty", "give a script that begins with #!/bin/sh, or use --wrap");
  if (script.size() > max_script_bytes)
    return fail(Error{Code::too_large, "the batch script is too large", "script", fmt::format("{} bytes", max_script_bytes),
                      fmt::format("{} bytes", script.size()), "keep data in files and let the script read them"});
  const bool has_nul = script.find('\0') != std::string_view::npos;
  if (!script.starts_with("#!")) {
    if (has_nul) return refuse(Code::invalid_argument, "this is a binary file, not a batch script", "run it from a script, or use --wrap");
    return refuse(Code::invalid_argument, "the first line of a batch script must begin with #! and name its interpreter",
                  "begin the script with #!/bin/sh or #!/bin/bash, or use --wrap");
  }
  const std::string_view first = script.substr(0, script.find('\n'));
  if (first.find_first_not_of(" \t\r", 2) == std::string_view::npos)
    return refuse(Code::invalid_argument, "the #! line names no interpreter", "begin the script with #!/bin/sh or #!/bin/bash");
  if (first.back() == '\r')
    return refuse(Code::invalid_argument, "the #! line ends as on DOS (CR LF), so its interpreter can not be found",
                  "convert the script, for instance with dos2unix or sed -i 's/\\r$//'");
  if (has_nul)
    return refuse(Code::invalid_argument, fmt::format("the batch script holds a NUL byte at byte {}", script.find('\0') + 1),
                  "remove it: shells can not read it");
  return {};
}

}  // namespace sy::base
