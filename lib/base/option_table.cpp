#include "base/option_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sy::base {
namespace {

std::string shorten(std::string_view text) { return std::string(text.substr(0, 80)); }
std::string_view canonical_name(const OptionRule& r) { return r.canonical.empty() ? r.name : r.canonical; }

bool is_negative_number(std::string_view w) {
  return w.size() > 1 && w[0] == '-' && w.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

// Would this word be taken for an option?
bool looks_like_option(std::string_view w) { return w.size() > 1 && w[0] == '-' && !is_negative_number(w); }

class Parser {
 public:
  Parser(std::span<const OptionRule> rules, const std::vector<std::string>& words, bool stop) : rules_(rules), words_(words), stop_(stop) {}

  Result<ParsedOptions> run() {
    while (at_ < words_.size()) {
      const std::string& w = words_[at_];
      if (w == "--") {
        ++at_;
        break;
      }
      if (looks_like_option(w)) {
        ++at_;
        auto read = w[1] == '-' ? read_long(w) : read_letters(w);
        if (!read) return fail(read.error());
      } else {
        if (stop_) break;
        out_.rest.push_back(w);
        ++at_;
      }
    }
    for (; at_ < words_.size(); ++at_) out_.rest.push_back(words_[at_]);
    return std::move(out_);
  }

 private:
  std::span<const OptionRule> rules_;
  const std::vector<std::string>& words_;
  bool stop_;
  std::size_t at_{};
  ParsedOptions out_;

  // The exact name, or the one option that this begins; aliases of one option do not make it ambiguous.
  Result<const OptionRule*> find_long(std::string_view name, std::string_view word) {
    std::vector<const OptionRule*> candidates;
    for (const OptionRule& r : rules_) {
      if (r.name == name) return &r;
      if (!name.empty() && r.name.starts_with(name)) candidates.push_back(&r);
    }
    const bool one = !candidates.empty() && std::all_of(candidates.begin(), candidates.end(), [&](const OptionRule* r) {
      return canonical_name(*r) == canonical_name(*candidates[0]);
    });
    if (one) return candidates[0];
    Error e{Code::invalid_argument, {}, shorten(word), {}, {}, {}};
    if (candidates.empty()) {
      std::vector<std::string> known;
      for (const OptionRule& r : rules_)
        if (!r.name.empty()) known.emplace_back(r.name);
      const std::string near = nearest(name, known);
      e.message = "unknown option";
      if (!near.empty()) e.hint = fmt::format("did you mean --{}?", near);
    } else {
      e.message = "ambiguous option";
      e.hint = "could be";
      for (const OptionRule* r : candidates) e.hint += fmt::format("{} --{}", r == candidates[0] ? "" : ",", r->name);
    }
    return fail(std::move(e));
  }

  // getopt takes whatever follows as the argument, and so do we ("-S -i"); but a long option that we know is an argument forgotten.
  bool is_known_long(std::string_view word) const {
    if (!word.starts_with("--")) return false;
    const std::string_view name = word.substr(2, word.find('=') - 2);
    return std::any_of(rules_.begin(), rules_.end(), [&](const OptionRule& r) { return !name.empty() && r.name == name; });
  }

  void give(const OptionRule& rule, std::string as_written, std::string value, bool has_value) {
    out_.options.push_back({std::string(canonical_name(rule)), std::move(as_written), std::move(value), has_value});
  }

  // The next word as the argument of `option`, written as in `joined` ("--time=" or "-t").
  Result<std::string> take_argument(const std::string& option, const std::string& joined) {
    const auto refuse = [&](std::string message, std::string hint) {
      return fail(Error{Code::invalid_argument, std::move(message), shorten(option), {}, {}, std::move(hint)});
    };
    if (at_ == words_.size()) return refuse("the argument is missing", fmt::format("write {}VALUE", joined));
    const std::string& next = words_[at_];
    if (next.starts_with("=")) {
      std::string value = next.substr(1);
      if (value.empty() && at_ + 1 < words_.size()) value = words_[at_ + 1];
      return refuse("no blanks may stand around '='", fmt::format("write {}{}", joined, shorten(value.empty() ? "VALUE" : value)));
    }
    if (is_known_long(next))
      return refuse("the argument is missing",
                    fmt::format("if {} is meant as the argument, write {}{}", shorten(next), joined, shorten(next)));
    ++at_;
    return next;
  }

  Result<void> read_long(const std::string& word) {
    const auto equals = word.find('=');
    const std::string written = word.substr(0, equals);
    auto found = find_long(std::string_view(written).substr(2), written);
    if (!found) return fail(found.error());
    const OptionRule& rule = **found;
    if (equals != std::string::npos) {
      std::string value = word.substr(equals + 1);
      if (rule.argument == OptionRule::Argument::none)
        return fail(Error{Code::invalid_argument,
                          "the option takes no argument",
                          shorten(written),
                          {},
                          shorten(value),
                          fmt::format("write {}", shorten(written))});
      give(rule, written, std::move(value), true);
      return {};
    }
    if (rule.argument != OptionRule::Argument::required) {
      give(rule, written, {}, false);
      return {};
    }
    auto value = take_argument(written, written + "=");
    if (!value) return fail(value.error());
    give(rule, written, std::move(*value), true);
    return {};
  }

  Result<void> read_letters(const std::string& word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      const std::string written{'-', word[i]};
      const auto rule =
          std::find_if(rules_.begin(), rules_.end(), [&](const OptionRule& r) { return r.letter != 0 && r.letter == word[i]; });
      if (rule == rules_.end()) return unknown_letter(word, written);
      if (rule->argument == OptionRule::Argument::none) {
        give(*rule, written, {}, false);
        continue;
      }
      std::string rest = word.substr(i + 1);
      if (!rest.empty()) {
        if (rest[0] == '=')
          return fail(Error{Code::invalid_argument,
                            "a one-letter option takes its argument without '='",
                            written,
                            {},
                            shorten(rest),
                            fmt::format("write {}{}", written, shorten(rest.size() > 1 ? rest.substr(1) : "VALUE"))});
        give(*rule, written, std::move(rest), true);
        return {};
      }
      if (rule->argument == OptionRule::Argument::optional) {
        give(*rule, written, {}, false);
        return {};
      }
      auto value = take_argument(written, written);
      if (!value) return fail(value.error());
      give(*rule, written, std::move(*value), true);
      return {};
    }
    return {};
  }

  // "-time=10" and "-nodes" are long options with a hyphen too few more often than letters put together.
  Result<void> unknown_letter(const std::string& word, const std::string& written) {
    Error e{Code::invalid_argument, "unknown option", written, {}, {}, {}};
    if (word.size() > 2) {
      const std::string name = word.substr(1, word.find('=') == std::string::npos ? std::string::npos : word.find('=') - 1);
      e.value = shorten(word);
      for (const OptionRule& r : rules_)
        if (r.name == name) e.hint = fmt::format("did you mean --{}?", name);
    }
    return fail(std::move(e));
  }
};

}  // namespace

Result<ParsedOptions> parse_options(std::span<const OptionRule> rules, const std::vector<std::string>& words, bool stop_at_operand) {
  return Parser(rules, words, stop_at_operand).run();
}

}  // namespace sy::base
