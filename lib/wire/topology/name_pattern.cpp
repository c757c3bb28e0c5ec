#include "wire/topology/name_pattern.hpp"

#include <memory>
#include <string>

namespace sy::wire {

namespace {

constexpr std::size_t max_pattern_bytes = 500;
constexpr std::size_t max_program = 5000;
constexpr unsigned max_depth = 50;

struct Tree {
  enum class Kind { empty, set, begin, end, sequence, alternatives, repeat } kind{Kind::empty};
  std::bitset<256> set;
  std::vector<std::unique_ptr<Tree>> parts;
  unsigned min{}, max{};  // repeat; max 0: unlimited
};
using TreePtr = std::unique_ptr<Tree>;

struct Malformed {
  std::string message;
};

TreePtr make(Tree::Kind kind) {
  auto t = std::make_unique<Tree>();
  t->kind = kind;
  return t;
}

class PatternParser {
 public:
  explicit PatternParser(std::string_view text) : text_(text) {}
  TreePtr run() {
    auto t = alternatives();
    if (!done()) throw Malformed{"a closing parenthesis has no opening one"};
    return t;
  }

 private:
  bool done() const { return at_ == text_.size(); }
  char next() {
    if (done()) throw Malformed{"the pattern ends too early"};
    return text_[at_++];
  }
  bool take(char c) {
    if (done() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  TreePtr alternatives() {
    if (++depth_ > max_depth) throw Malformed{"the pattern is nested too deeply"};
    auto all = make(Tree::Kind::alternatives);
    do all->parts.push_back(sequence());
    while (take('|'));
    --depth_;
    return all;
  }
  TreePtr sequence() {
    auto all = make(Tree::Kind::sequence);
    while (!done() && text_[at_] != '|' && text_[at_] != ')') all->parts.push_back(repeated());
    return all;
  }
  TreePtr repeated() {
    auto what = one();
    for (unsigned k = 0; !done(); ++k) {
      unsigned min = 0, max = 0;
      if (take('*')) min = 0;
      else if (take('+')) min = 1;
      else if (take('?')) max = 1;
      else if (take('{')) range(min, max);
      else break;
      if (k > 0) throw Malformed{"two repetitions follow each other"};
      take('?');  // lazy or greedy: the same to a yes or no
      auto r = make(Tree::Kind::repeat);
      r->min = min;
      r->max = max;
      r->parts.push_back(std::move(what));
      what = std::move(r);
    }
    return what;
  }
  unsigned number() {
    unsigned n = 0;
    bool any = false;
    while (!done() && text_[at_] >= '0' && text_[at_] <= '9') {
      n = n * 10 + static_cast<unsigned>(text_[at_++] - '0');
      any = true;
      if (n > 255) throw Malformed{"a repetition is larger than 255"};
    }
    if (!any) throw Malformed{"a number is missing in {}"};
    return n;
  }
  void range(unsigned& min, unsigned& max) {
    min = max = number();
    if (take(',')) max = !done() && text_[at_] == '}' ? 0 : number();
    else if (max == 0) throw Malformed{"{0} matches nothing"};
    if (!take('}')) throw Malformed{"a closing } is missing"};
    if (max != 0 && max < min) throw Malformed{"a repetition goes from more to less"};
  }
  static void add_digits(std::bitset<256>& s) {
    for (int c = '0'; c <= '9'; ++c) s.set(static_cast<std::size_t>(c));
  }
  static void add_escape(char c, std::bitset<256>& s) {
    if (c == 'd' || c == 'w') add_digits(s);
    if (c == 'w') {
      for (int l = 'a'; l <= 'z'; ++l) s.set(static_cast<std::size_t>(l)).set(static_cast<std::size_t>(l) - 'a' + 'A');
      s.set('_');
    }
    if (c == 'd' || c == 'w') return;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
      throw Malformed{std::string("\\") + c + " is not known"};
    s.set(static_cast<unsigned char>(c));
  }
  TreePtr one() {
    const char c = next();
    if (c == '(') {
      if (take('?') && !(take(':'))) throw Malformed{"only (?:…) groups are known"};
      auto t = alternatives();
      if (!take(')')) throw Malformed{"a closing parenthesis is missing"};
      return t;
    }
    if (c == '^') return make(Tree::Kind::begin);
    if (c == '$') return make(Tree::Kind::end);
    if (c == '*' || c == '+' || c == '?' || c == '{') throw Malformed{"a repetition has nothing before it"};
    auto t = make(Tree::Kind::set);
    if (c == '.') t->set.set();
    else if (c == '\\') add_escape(next(), t->set);
    else if (c == '[') char_class(t->set);
    else t->set.set(static_cast<unsigned char>(c));
    return t;
  }
  void char_class(std::bitset<256>& s) {
    const bool negated = take('^');
    for (bool first = true; first || !take(']'); first = false) {
      const auto low = static_cast<unsigned char>(next());
      if (low == '\\') {
        add_escape(next(), s);
        continue;
      }
      if (low == '[' && !done() && text_[at_] == ':') throw Malformed{"classes such as [:digit:] are not known"};
      auto high = low;
      if (at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']') {
        ++at_;
        high = static_cast<unsigned char>(next());
        if (high < low) throw Malformed{"a range goes from high to low"};
      }
      for (unsigned k = low; k <= high; ++k) s.set(k);
    }
    if (negated) s.flip();
  }

  std::string_view text_;
  std::size_t at_{};
  unsigned depth_{};
};

}  // namespace

class NamePatternCompiler {
 public:
  NamePattern run(const Tree& t) {
    emit(t);
    push(Op::match);
    return std::move(out_);
  }

 private:
  using Op = NamePattern::Instruction::Op;

  std::uint32_t here() const { return static_cast<std::uint32_t>(out_.program_.size()); }
  std::uint32_t push(Op op, std::uint32_t a = 0, std::uint32_t b = 0) {
    if (out_.program_.size() >= max_program) throw Malformed{"the pattern is too large when its repetitions are written out"};
    out_.program_.push_back({op, a, b});
    return here() - 1;
  }
  void emit(const Tree& t) {
    switch (t.kind) {
      case Tree::Kind::empty: return;
      case Tree::Kind::begin: push(Op::begin); return;
      case Tree::Kind::end: push(Op::end); return;
      case Tree::Kind::set:
        push(Op::set, static_cast<std::uint32_t>(out_.sets_.size()));
        out_.sets_.push_back(t.set);
        return;
      case Tree::Kind::sequence:
        for (const auto& p : t.parts) emit(*p);
        return;
      case Tree::Kind::alternatives: emit_alternatives(t); return;
      case Tree::Kind::repeat: emit_repeat(t); return;
    }
  }
  void emit_alternatives(const Tree& t) {
    std::vector<std::uint32_t> ends;
    for (std::size_t i = 0; i < t.parts.size(); ++i) {
      if (i + 1 == t.parts.size()) {
        emit(*t.parts[i]);
        break;
      }
      const auto split = push(Op::split);
      out_.program_[split].a = here();
      emit(*t.parts[i]);
      ends.push_back(push(Op::jump));
      out_.program_[split].b = here();
    }
    for (const auto e : ends) out_.program_[e].a = here();
  }
  void emit_repeat(const Tree& t) {
    for (unsigned k = 0; k < t.min; ++k) emit(*t.parts.front());
    if (t.max == 0) {
      const auto split = push(Op::split);
      out_.program_[split].a = here();
      emit(*t.parts.front());
      push(Op::jump, split);
      out_.program_[split].b = here();
      return;
    }
    std::vector<std::uint32_t> splits;
    for (unsigned k = t.min; k < t.max; ++k) {
      splits.push_back(push(Op::split));
      out_.program_[splits.back()].a = here();
      emit(*t.parts.front());
    }
    for (const auto s : splits) out_.program_[s].b = here();
  }

  NamePattern out_;
};

base::Result<NamePattern> NamePattern::compile(std::string_view text) {
  try {
    if (text.empty() || text.size() > max_pattern_bytes) throw Malformed{"the pattern is empty or longer than 500 characters"};
    const auto tree = PatternParser(text).run();
    return NamePatternCompiler().run(*tree);
  } catch (const Malformed& m) {
    return base::fail(base::Code::invalid_argument, "this pattern is not understood: " + m.message, "pattern",
                      std::string(text.substr(0, 80)));
  }
}

void NamePattern::follow(std::uint32_t start, std::size_t position, std::size_t size, std::vector<std::uint32_t>& list,
                         std::vector<std::uint8_t>& seen) const {
  std::vector<std::uint32_t> open{start};
  while (!open.empty()) {
    const auto at = open.back();
    open.pop_back();
    if (std::exchange(seen[at], std::uint8_t{1}) != 0) continue;
    const auto& i = program_[at];
    switch (i.op) {
      case Instruction::Op::jump: open.push_back(i.a); break;
      case Instruction::Op::split:
        open.push_back(i.b);
        open.push_back(i.a);
        break;
      case Instruction::Op::begin:
        if (position == 0) open.push_back(at + 1);
        break;
      case Instruction::Op::end:
        if (position == size) open.push_back(at + 1);
        break;
      case Instruction::Op::set:
      case Instruction::Op::match: list.push_back(at); break;
    }
  }
}

bool NamePattern::matches(std::string_view name) const {
  std::vector<std::uint32_t> now, later;
  std::vector<std::uint8_t> seen(program_.size());
  for (std::size_t position = 0;; ++position) {
    follow(0, position, name.size(), now, seen);  // a match may start at any position
    for (const auto at : now)
      if (program_[at].op == Instruction::Op::match) return true;
    if (position == name.size()) return false;
    later.clear();
    seen.assign(program_.size(), 0);
    for (const auto at : now)
      if (sets_[program_[at].a].test(static_cast<unsigned char>(name[position]))) follow(at + 1, position + 1, name.size(), later, seen);
    now.swap(later);
  }
}

}  // namespace sy::wire
