// Reads a JSON object into a value whose members are described (describe_*.hpp): strict about names, types, ranges, sizes.
// The first fault is kept as an Error that names the member by its path. Not a parser of text: parse_json does that.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/digest.hpp"
#include "base/node_set.hpp"
#include "base/result.hpp"
#include "wire/enum_names.hpp"
#include "wire/json.hpp"
#include "wire/value_traits.hpp"

namespace sy::wire {

// A request obeys every Limit; what the store kept was checked when it came in and may be older than today's limits.
enum class Source : unsigned char { request, stored };

// What a read shares: where we are, and the first fault.
class ReadContext {
 public:
  ReadContext(Source source, std::string path) : source_(source), path_(std::move(path)) {}

  bool failed() const { return failed_; }
  bool limited() const { return source_ == Source::request; }
  base::Error take_error() { return std::move(error_); }
  void fail(std::string message, std::string limit = {}, std::string value = {}, std::string hint = {});
  void fail_not_yet();  // known, but not carried out by this release

  // The path grows and shrinks around each member: "groups", "[0]", ".nodes". False when nested too deep.
  struct Place {
    ReadContext& context;
    std::size_t length;
    ~Place() { context.path_.resize(length), --context.depth_; }
  };
  Place enter(std::string_view member);
  Place enter(std::size_t index);
  bool too_deep();

 private:
  Source source_;
  std::string path_;
  std::size_t depth_{};
  bool failed_{};
  base::Error error_;
};

// Leaf reads; each fails in the context when the type or the range is wrong.
bool is_null(const Json&);
std::size_t list_size(const Json& list, const Limit&, ReadContext&);  // 0 and a fault when it is no list or too long
const Json& list_item(const Json& list, std::size_t index);
void read_flag(const Json&, bool& out, ReadContext&);
void read_text(const Json&, std::string& out, const Limit&, ReadContext&);
void read_digest(const Json&, base::Digest& out, ReadContext&);
std::int64_t read_integer(const Json&, std::int64_t min, std::int64_t max, ReadContext&);
std::uint64_t read_unsigned(const Json&, std::uint64_t max, ReadContext&);
std::int64_t read_scaled(const Json&, std::int64_t scale, const Limit&, ReadContext&);  // a decimal times scale
void read_node_set(const Json&, base::NodeSet& out, ReadContext&);
std::size_t read_enum(const Json&, const std::string_view* names, std::size_t count, ReadContext&);

// The members of one object, with those asked for so far.
class ObjectMembers {
 public:
  ObjectMembers(const Json& object, ReadContext&);   // a fault when it is no object
  const Json* find(std::string_view name);
  void not_yet(std::string_view name, std::string_view inside = {});
  void refuse_unknown();                              // names the nearest known member

 private:
  const Json* object_{};
  ReadContext& context_;
  std::vector<std::string_view> known_;
  std::vector<std::pair<std::string_view, std::string_view>> not_yet_;
  std::size_t found_{};
};

template <class T>
void read_value(const Json&, T& out, const Limit&, ReadContext&);

template <class T>
void validate(T&, ReadContext&) {}  // overloaded where members must agree with each other

// The archive given to describe(): one call per member.
template <class T>
class MemberReader {
 public:
  static constexpr bool reading = true;
  MemberReader(const Json& object, T& value, ReadContext& context) : members_(object, context), value_(value), context_(context) {}

  void keep_defaults() {}

  template <class C, class M>
  bool operator()(std::string_view name, M C::* member, const Limit& limit = {}) {
    if (context_.failed()) return false;
    const Json* found = members_.find(name);
    if (found == nullptr) return false;
    const auto place = context_.enter(name);
    read_value(*found, value_.*member, limit, context_);
    return true;
  }

  template <class C, class M>
  void given(std::string_view name, std::string_view given_name, M C::* member, bool C::* flag, const Limit& limit = {}) {
    if ((*this)(name, member, limit)) value_.*flag = true;
    (*this)(given_name, flag);
  }

  // A member that is refused as not carried out yet; with `inside`: only where it is an object that has that member.
  void not_yet(std::string_view name, std::string_view inside = {}) { members_.not_yet(name, inside); }

  // One member starts out as another: what is left out is the same.
  template <class C, class M>
  void follow(M C::* member, M C::* from) {
    value_.*member = value_.*from;
  }

  void finish() {
    if (!context_.failed()) members_.refuse_unknown();
  }

 private:
  ObjectMembers members_;
  T& value_;
  ReadContext& context_;
};

template <class T>
void read_object(const Json& json, T& out, ReadContext& context) {
  if (context.too_deep()) return;
  MemberReader<T> reader{json, out, context};
  if (context.failed()) return;
  describe(reader, std::type_identity<T>{});
  reader.finish();
  if (!context.failed()) validate(out, context);
}

template <class T>
void read_list(const Json& json, T& out, const Limit& limit, ReadContext& context) {
  const std::size_t n = list_size(json, limit, context);
  out.clear();
  out.reserve(n);
  for (std::size_t i = 0; i < n && !context.failed(); ++i) {
    const auto place = context.enter(i);
    typename T::value_type item{};
    read_value(list_item(json, i), item, limit, context);
    out.push_back(std::move(item));
  }
}

template <class T>
void read_number(const Json& json, T& out, const Limit& limit, ReadContext& context) {
  const std::int64_t low = context.limited() ? limit.min : INT64_MIN;
  const std::int64_t high = context.limited() ? limit.max : INT64_MAX;
  if constexpr (std::is_same_v<T, std::uint64_t>) {
    out = read_unsigned(json, high == INT64_MAX ? UINT64_MAX : static_cast<std::uint64_t>(high), context);
  } else {
    const auto own_low = static_cast<std::int64_t>(std::numeric_limits<T>::min());
    const auto own_high = static_cast<std::int64_t>(std::numeric_limits<T>::max());
    out = static_cast<T>(read_integer(json, low < own_low ? own_low : low, high > own_high ? own_high : high, context));
  }
}

template <class T>
void read_value(const Json& json, T& out, const Limit& limit, ReadContext& context) {
  if constexpr (std::is_same_v<T, bool>) read_flag(json, out, context);
  else if constexpr (std::is_same_v<T, std::string>) read_text(json, out, limit, context);
  else if constexpr (std::is_same_v<T, base::Digest>) read_digest(json, out, context);
  else if constexpr (std::is_enum_v<T>)
    out = static_cast<T>(read_enum(json, EnumNames<T>::names.data(), EnumNames<T>::names.size(), context));
  else if constexpr (std::is_integral_v<T>) read_number(json, out, limit, context);
  else if constexpr (is_id<T> || std::is_same_v<T, base::Mebibytes>) read_number(json, out.value, limit, context);
  else if constexpr (std::is_same_v<T, base::Cpus>) out = base::Cpus{read_scaled(json, 1000, limit, context)};
  else if constexpr (std::is_same_v<T, base::Duration>)
    out = is_null(json) ? base::Duration::max() : base::Duration{read_scaled(json, 1'000'000, limit, context)};
  else if constexpr (std::is_same_v<T, base::Time>) {
    std::int64_t us = 0;
    read_number(json, us, limit, context);
    out = base::time_from_micros(us);
  } else if constexpr (std::is_same_v<T, base::NodeSet>) read_node_set(json, out, context);
  else if constexpr (is_vector<T>) read_list(json, out, limit, context);
  else if constexpr (is_shared<T>) {
    auto made = std::make_shared<std::remove_const_t<typename T::element_type>>();
    read_value(json, *made, limit, context);
    out = std::move(made);
  } else if constexpr (is_rare<T>) {
    typename T::value_type made{};
    read_value(json, made, limit, context);
    out = std::move(made);
  } else if constexpr (is_optional<T>) {
    using Inner = typename T::value_type;
    if (is_null(json) && !std::is_same_v<Inner, base::Duration>) {
      out.reset();
      return;
    }
    read_value(json, out.emplace(), limit, context);
  } else if constexpr (is_pair<T>) {
    if (list_size(json, {.items = 2}, context) != 2) {
      context.fail("must be a list of two values");
      return;
    }
    read_value(list_item(json, 0), out.first, limit, context);
    read_value(list_item(json, 1), out.second, limit, context);
  } else {
    read_object(json, out, context);
  }
}

// Text to a value. Refuses what is not JSON, saying where.
base::Result<Json> parse_json(std::string_view text);

// The whole: an object to a T, faults under `path`.
template <class T>
base::Result<T> read_described(const Json& json, Source source, std::string path = {}) {
  ReadContext context{source, std::move(path)};
  T out{};
  read_value(json, out, Limit{}, context);
  if (context.failed()) return base::fail(context.take_error());
  return out;
}

}  // namespace sy::wire
