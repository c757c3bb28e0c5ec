#include "base/hostlist.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace sy::base {
namespace {

constexpr std::size_t max_name_bytes = 255;  // the longest host name DNS knows; also bounds how many brackets a word has
constexpr std::size_t max_digits = 18;       // fits 64 bits with room for one more step

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_separator(char c) { return c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

struct Range {
  std::uint64_t first{}, count{}, step{1};
  std::size_t width{};
};

// One word: literal text and brackets in turn; a literal part has no ranges.
struct Part {
  std::string_view literal;
  std::vector<Range> ranges;
  std::uint64_t count() const {
    std::uint64_t n = 0;
    for (const Range& r : ranges) n += r.count;
    return n;
  }
};

class Reader {
 public:
  Reader(std::string_view text, std::size_t limit) : text_(text), limit_(limit) {}

  Result<std::vector<std::string>> run() {
    std::vector<std::vector<Part>> words;
    std::uint64_t total = 0;
    skip_blanks();
    while (at_ < text_.size()) {
      if (text_[at_] == ',') return fault("a name is missing before this comma");
      auto word = read_word();
      if (!word) return fail(word.error());
      total += names_in(*word);
      if (total > limit_) return too_many();
      words.push_back(std::move(*word));
      skip_blanks();
      if (at_ < text_.size() && text_[at_] == ',') {
        ++at_;
        skip_blanks();
        if (at_ == text_.size()) return fault("a name is missing after the last comma");
      }
    }
    std::vector<std::string> names;
    names.reserve(total);
    for (const auto& word : words) expand(word, names);
    return names;
  }

 private:
  std::string_view text_;
  std::size_t limit_;
  std::size_t at_{};

  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] != ',' && is_separator(text_[at_])) ++at_;
  }

  tl::unexpected<Error> fault(std::string message) const {
    Error e{Code::invalid_argument, fmt::format("{} (at character {} of the host list)", message, at_ + 1), {}, {}, {}, {}};
    e.value = std::string(text_.substr(0, 80));
    e.hint = "write names like n1,n[2-5,08-10]";
    return fail(std::move(e));
  }

  tl::unexpected<Error> too_many() const {
    Error e{Code::too_large,
            fmt::format("the host list names more than {} hosts (at character {})", limit_, at_ + 1),
            {},
            fmt::format("{} names", limit_),
            std::string(text_.substr(0, 80)),
            "name fewer hosts"};
    return fail(std::move(e));
  }

  // At most limit_ + 1: never overflows, however many brackets multiply.
  std::uint64_t names_in(const std::vector<Part>& word) const {
    std::uint64_t n = 1;
    for (const Part& p : word) {
      if (p.ranges.empty()) continue;
      const std::uint64_t c = p.count();
      if (c > limit_ || n * c > limit_) return static_cast<std::uint64_t>(limit_) + 1;
      n *= c;
    }
    return n;
  }

  Result<std::vector<Part>> read_word() {
    std::vector<Part> parts;
    std::size_t longest = 0;
    while (at_ < text_.size() && !is_separator(text_[at_])) {
      if (text_[at_] == ']') return fault("']' without '['");
      if (text_[at_] == '[') {
        auto part = read_bracket();
        if (!part) return fail(part.error());
        std::size_t widest = 0;
        for (const Range& r : part->ranges) widest = std::max(widest, std::max<std::size_t>(r.width, digits_of_last(r)));
        longest += widest;
        parts.push_back(std::move(*part));
      } else {
        const std::size_t from = at_;
        while (at_ < text_.size() && !is_separator(text_[at_]) && text_[at_] != '[' && text_[at_] != ']') {
          const auto c = static_cast<unsigned char>(text_[at_]);
          if (c < 0x20 || c == 0x7f) return fault("a control character can not be part of a host name");
          ++at_;
        }
        longest += at_ - from;
        parts.push_back(Part{text_.substr(from, at_ - from), {}});
      }
      if (longest > max_name_bytes) return fault(fmt::format("a host name is longer than {} characters", max_name_bytes));
    }
    return parts;
  }

  static std::size_t digits_of_last(const Range& r) { return fmt::formatted_size("{}", r.first + (r.count - 1) * r.step); }

  Result<Part> read_bracket() {
    Part part;
    ++at_;
    while (true) {
      auto range = read_range();
      if (!range) return fail(range.error());
      part.ranges.push_back(*range);
      if (part.ranges.size() > limit_) return too_many();
      if (at_ == text_.size()) return fault("'[' is never closed");
      const char c = text_[at_];
      if (c == ']') {
        ++at_;
        return part;
      }
      if (c != ',') return fault("expected ',' or ']' after a range");
      ++at_;
    }
  }

  Result<std::string_view> read_number() {
    const std::size_t from = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    if (at_ == from) return fault("expected a number");
    if (at_ - from > max_digits) return fault(fmt::format("a number has more than {} digits", max_digits));
    return text_.substr(from, at_ - from);
  }

  static std::uint64_t value_of(std::string_view digits) {
    std::uint64_t v = 0;
    for (char c : digits) v = v * 10 + static_cast<std::uint64_t>(c - '0');
    return v;
  }

  Result<Range> read_range() {
    auto low = read_number();
    if (!low) return fail(low.error());
    Range range{value_of(*low), 1, 1, low->size()};
    if (at_ == text_.size() || text_[at_] != '-') return range;
    ++at_;
    auto high = read_number();
    if (!high) return fail(high.error());
    const std::uint64_t last = value_of(*high);
    if (last < range.first) return fault(fmt::format("the range {}-{} runs backwards", *low, *high));
    if (at_ < text_.size() && text_[at_] == ':') {
      ++at_;
      auto step = read_number();
      if (!step) return fail(step.error());
      range.step = value_of(*step);
      if (range.step == 0) return fault("a step of 0 never ends");
    }
    range.count = (last - range.first) / range.step + 1;
    // Numbers below 10^18 and at most limit_ names: the products below can not overflow.
    if (range.count > limit_) return too_many();
    return range;
  }

  // All combinations, the last bracket running fastest, without recursion.
  static void expand(const std::vector<Part>& word, std::vector<std::string>& out) {
    std::vector<std::string> done{std::string{}};
    for (const Part& part : word) {
      if (part.ranges.empty()) {
        for (std::string& s : done) s += part.literal;
        continue;
      }
      std::vector<std::string> next;
      next.reserve(done.size() * part.count());
      for (const std::string& s : done)
        for (const Range& r : part.ranges)
          for (std::uint64_t i = 0; i < r.count; ++i) next.push_back(fmt::format("{}{:0{}}", s, r.first + i * r.step, r.width));
      done = std::move(next);
    }
    for (std::string& s : done) out.push_back(std::move(s));
  }
};

// "rack1-n007" is {"rack1-n", "007"}; at most 18 digits belong to the number.
struct Split {
  std::string_view prefix, digits;
};
Split split_last_number(std::string_view name) {
  std::size_t at = name.size();
  while (at > 0 && name.size() - at < max_digits && is_digit(name[at - 1])) --at;
  return {name.substr(0, at), name.substr(at)};
}

std::uint64_t number_of(std::string_view digits) {
  std::uint64_t v = 0;
  for (char c : digits) v = v * 10 + static_cast<std::uint64_t>(c - '0');
  return v;
}

// A group of names with one prefix while it grows: "n[1-2,4]".
class Group {
 public:
  void open(const Split& s) {
    prefix_ = s.prefix;
    items_.clear();
    add(s.digits);
  }
  bool takes(const Split& s) const { return !items_.empty() && !s.digits.empty() && !items_.back().low.empty() && s.prefix == prefix_; }
  void add(std::string_view digits) {
    if (!items_.empty()) {
      Item& last = items_.back();
      // Exactly what expanding "low-…" would print next, so padding always survives the way back.
      if (digits == fmt::format("{:0{}}", number_of(last.high) + 1, last.low.size())) {
        last.high = digits;
        return;
      }
    }
    items_.push_back({digits, digits});
  }
  void write(std::string& out) const {
    if (items_.empty()) return;
    if (!out.empty()) out += ',';
    out += prefix_;
    if (items_.size() == 1 && items_[0].low == items_[0].high) {
      out += items_[0].low;
      return;
    }
    for (std::size_t i = 0; i < items_.size(); ++i) {
      out += i == 0 ? '[' : ',';
      out += items_[i].low;
      if (items_[i].low != items_[i].high) out.append("-").append(items_[i].high);
    }
    out += ']';
  }

 private:
  struct Item {
    std::string_view low, high;
  };
  std::string_view prefix_;
  std::vector<Item> items_;
};

}  // namespace

Result<std::vector<std::string>> expand_hostlist(std::string_view text, std::size_t limit) { return Reader(text, limit).run(); }

std::string fold_hostlist_in_order(const std::vector<std::string>& names) {
  std::string out;
  Group group;
  for (const std::string& name : names) {
    const Split s = split_last_number(name);
    if (group.takes(s)) {
      group.add(s.digits);
    } else {
      group.write(out);
      group.open(s);
    }
  }
  group.write(out);
  return out;
}

std::string fold_hostlist(std::vector<std::string> names) {
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) { return natural_less(a, b); });
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return fold_hostlist_in_order(names);
}

bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      while (i < a.size() && a[i] == '0') ++i;
      while (j < b.size() && b[j] == '0') ++j;
      const std::size_t ia = i, jb = j;
      while (i < a.size() && is_digit(a[i])) ++i;
      while (j < b.size() && is_digit(b[j])) ++j;
      if (i - ia != j - jb) return i - ia < j - jb;
      const int c = a.substr(ia, i - ia).compare(b.substr(jb, j - jb));
      if (c != 0) return c < 0;
    } else {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i;
      ++j;
    }
  }
  if (i < a.size() || j < b.size()) return j < b.size();
  return a < b;
}

}  // namespace sy::base
