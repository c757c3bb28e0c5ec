#include "base/features.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sy::base {
namespace {

using Expression = FeatureExpression;
using Op = FeatureExpression::Op;

constexpr std::size_t max_bytes = 4'096, max_names = 64, max_depth = 8;
constexpr std::uint32_t max_count = 1'000'000;

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == ':' ||
         c == '=' || c == '+' || c == '/' || c == '@';
}

bool all(const std::vector<Expression>& list, bool (*is)(const Expression&)) { return std::all_of(list.begin(), list.end(), is); }

// Something that one node by itself matches or not. Depth is bounded by the reader.
bool is_plain(const Expression& e) { return e.op != Op::one_of_for_all && e.op != Op::counted && all(e.operands, is_plain); }
bool is_alternatives(const Expression& e) { return e.op == Op::one_of_for_all && all(e.operands, is_plain); }
bool fits_outermost(const Expression& e) {
  if (e.op != Op::counted) return is_plain(e) || is_alternatives(e);
  return all(e.operands, [](const Expression& x) { return is_plain(x) || is_alternatives(x); });
}

// Levels of the tree, a lone feature being one. At most one for each name and each level the reader allows.
std::size_t height(const Expression& e) {
  std::size_t below = 0;
  for (const Expression& x : e.operands) below = std::max(below, height(x));
  return below + 1;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<Expression> run() {
    if (text_.size() > max_bytes)
      return fail(Error{Code::too_large,
                        "the feature expression is too long",
                        {},
                        fmt::format("{} bytes", max_bytes),
                        std::string(text_.substr(0, 80)),
                        {}});
    skip_blanks();
    if (at_ == text_.size()) return fault("the feature expression is empty");
    auto e = read_chain(1);
    if (!e) return e;
    if (at_ != text_.size())
      return fault(text_[at_] == ',' ? "',' joins nothing: & means and, | means or" : fmt::format("'{}' is not expected here", text_[at_]));
    // "a|b&c|d&…" nests without a parenthesis: each change of & and | is a level.
    if (height(*e) > max_depth) return fault(fmt::format("more than {} levels of nesting", max_depth));
    const bool fine = e->op == Op::all_of ? all(e->operands, fits_outermost) : fits_outermost(*e);
    if (!fine) return fault("alternatives in brackets and counts can only be joined by & and not be nested");
    return e;
  }

 private:
  std::string_view text_;
  std::size_t at_{}, names_{};

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    skip_blanks();
    return true;
  }
  tl::unexpected<Error> fault(std::string message) const {
    return fail(Error{Code::invalid_argument,
                      fmt::format("{} (at character {} of the feature expression)", message, at_ + 1),
                      {},
                      {},
                      std::string(text_.substr(0, 80)),
                      "write features as in a100&ib, a|b, (a|b)&!c, [rack1|rack2] or [a*2&b*1]"});
  }

  // Joined by & and |, from left to right; neighbours of the same kind share one node of the tree.
  Result<Expression> read_chain(std::size_t depth) {
    if (depth > max_depth) return fault(fmt::format("more than {} levels of nesting", max_depth));
    auto left = read_item(depth);
    while (left && at_ < text_.size() && (text_[at_] == '&' || text_[at_] == '|')) {
      const Op op = text_[at_] == '&' ? Op::all_of : Op::any_of;
      ++at_;
      skip_blanks();
      auto right = read_item(depth);
      if (!right) return right;
      if (left->op != op) {
        Expression joined;
        joined.op = op;
        joined.operands.push_back(std::move(*left));
        *left = std::move(joined);
      }
      append(*left, std::move(*right));
    }
    return left;
  }

  static void append(Expression& list, Expression item) {
    if (item.op != list.op) {
      list.operands.push_back(std::move(item));
      return;
    }
    for (Expression& e : item.operands) list.operands.push_back(std::move(e));
  }

  Result<Expression> read_item(std::size_t depth) {
    if (depth > max_depth) return fault(fmt::format("more than {} levels of nesting", max_depth));
    if (take('!')) {
      auto inner = read_item(depth + 1);
      if (!inner) return inner;
      if (inner->op == Op::counted) return fault("a count can not follow what ! excludes");
      Expression none;
      none.op = Op::none_of;
      none.operands.push_back(std::move(*inner));
      return none;
    }
    auto item = read_primary(depth);
    if (!item || !take('*')) return item;
    std::uint32_t count = 0;
    const std::size_t from = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      count = count * 10 + static_cast<std::uint32_t>(text_[at_] - '0');
      if (count > max_count) return fault(fmt::format("a count is more than {}", max_count));
    }
    if (at_ == from || count == 0) return fault("a count of nodes from 1 is expected after '*'");
    skip_blanks();
    Expression counted;
    counted.op = Op::counted;
    counted.count = count;
    counted.operands.push_back(std::move(*item));
    return counted;
  }

  Result<Expression> read_primary(std::size_t depth) {
    if (take('(')) {
      auto inner = read_chain(depth + 1);
      if (!inner) return inner;
      if (!take(')')) return fault("')' is missing");
      return inner;
    }
    if (take('[')) {
      auto inner = read_chain(depth + 1);
      if (!inner) return inner;
      if (!take(']')) return fault("']' is missing");
      if (inner->op == Op::any_of) inner->op = Op::one_of_for_all;
      return inner;
    }
    const std::size_t from = at_;
    while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
    if (at_ == from) return fault("a feature's name is expected");
    if (++names_ > max_names) return fault(fmt::format("more than {} names", max_names));
    Expression e;
    e.feature = std::string(text_.substr(from, at_ - from));
    skip_blanks();
    return e;
  }
};

std::string join(const std::vector<Expression>& operands, std::string_view with);

std::string as_operand(const Expression& e) {
  return e.op == Op::all_of || e.op == Op::any_of ? fmt::format("({})", format_features(e)) : format_features(e);
}

std::string join(const std::vector<Expression>& operands, std::string_view with) {
  std::string out;
  for (const Expression& e : operands) {
    if (!out.empty()) out += with;
    out += as_operand(e);
  }
  return out;
}

}  // namespace

Result<FeatureExpression> parse_features(std::string_view text) { return Reader(text).run(); }

std::string format_features(const FeatureExpression& e) {
  switch (e.op) {
    case Op::feature: return e.feature;
    case Op::all_of: return join(e.operands, "&");
    case Op::any_of: return join(e.operands, "|");
    case Op::none_of: return fmt::format("!{}", join(e.operands, "|"));
    case Op::one_of_for_all: return fmt::format("[{}]", join(e.operands, "|"));
    case Op::counted: {  // "!a*2" would read as the other way round
      const bool excludes = e.operands.front().op == Op::none_of;
      const std::string what = join(e.operands, "|");
      return excludes ? fmt::format("({})*{}", what, e.count) : fmt::format("{}*{}", what, e.count);
    }
  }
  return {};
}

bool matches(const FeatureExpression& e, const std::vector<std::string>& sorted) {
  const auto one = [&](const FeatureExpression& x) { return matches(x, sorted); };
  switch (e.op) {
    case Op::feature: return std::binary_search(sorted.begin(), sorted.end(), e.feature);
    case Op::any_of:
    case Op::one_of_for_all:
    case Op::counted: return std::any_of(e.operands.begin(), e.operands.end(), one);
    case Op::none_of: return std::none_of(e.operands.begin(), e.operands.end(), one);
    case Op::all_of: break;
  }
  // "a*4&b*2&c": every node needs c, and to be an a or a b.
  bool counts = false, counted = false;
  for (const FeatureExpression& x : e.operands) {
    if (x.op == Op::counted) {
      counts = true;
      counted = counted || one(x);
    } else if (!one(x)) {
      return false;
    }
  }
  return !counts || counted;
}

}  // namespace sy::base
