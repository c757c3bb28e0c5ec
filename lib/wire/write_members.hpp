// Writes a value whose members are described (describe_*.hpp) as JSON text; members at their defaults are left out.
// Not for views of the API, which choose their fields: job_fields.hpp and views.hpp.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/digest.hpp"
#include "base/node_set.hpp"
#include "wire/enum_names.hpp"
#include "wire/json_text.hpp"
#include "wire/value_traits.hpp"

namespace sy::wire {

template <class T>
void write_value(std::string& out, const T& value);

void write_node_set(std::string& out, const base::NodeSet&);  // [first, count, first, count, …]

// The archive given to describe(): one call per member.
template <class T>
class MemberWriter {
 public:
  static constexpr bool reading = false;
  MemberWriter(std::string& out, const T& value) : out_(out), value_(value) {}

  // From here on members at their defaults are written too: where a later release may change the default.
  void keep_defaults() { keep_ = true; }

  template <class C, class M>
  void operator()(std::string_view name, M C::* member, Limit = {}) {
    static const T defaults{};
    const M& v = value_.*member;
    if constexpr (is_optional<M>) {
      if (!v.has_value()) return;
      key(name);
      write_value(out_, *v);
    } else if constexpr (is_shared<M>) {
      if (!v) return;
      key(name);
      write_value(out_, *v);
    } else {
      if (!keep_ && same(v, defaults.*member)) return;
      key(name);
      write_value(out_, v);
    }
  }

  // `given` says whether the user wrote it; the member's presence carries that. The rare other case has a name of its own.
  template <class C, class M>
  void given(std::string_view name, std::string_view given_name, M C::* member, bool C::* flag, Limit = {}) {
    static const T defaults{};
    const bool differs = !same(value_.*member, defaults.*member);
    if (!(value_.*flag) && !differs) return;
    key(name);
    write_value(out_, value_.*member);
    if (!(value_.*flag)) {
      key(given_name);
      out_ += "false";
    }
  }

 private:
  template <class M>
  static bool same(const M& a, const M& b) {
    if constexpr (is_vector<M>) {
      if (a.empty() || b.empty()) return a.empty() == b.empty();
      return same_items(a, b);
    } else if constexpr (std::equality_comparable<M>) {
      return a == b;
    } else {
      return false;
    }
  }
  template <class M>
  static bool same_items(const M& a, const M& b) {
    if constexpr (std::equality_comparable<typename M::value_type>) return a == b;
    else return false;
  }

  void key(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    out_ += '"';
    out_ += name;
    out_ += "\":";
  }

  std::string& out_;
  const T& value_;
  bool keep_{};
  bool first_{true};
};

template <class T>
void write_object(std::string& out, const T& value) {
  MemberWriter<T> writer{out, value};
  out += '{';
  describe(writer, std::type_identity<T>{});
  out += '}';
}

template <class T>
void write_list(std::string& out, const T& list) {
  out += '[';
  bool first = true;
  for (const auto& item : list) {
    if (!first) out += ',';
    first = false;
    write_value(out, item);
  }
  out += ']';
}

template <class T>
void write_value(std::string& out, const T& value) {
  if constexpr (std::is_same_v<T, bool>) out += value ? "true" : "false";
  else if constexpr (std::is_same_v<T, std::string>) append_quoted(out, value);
  else if constexpr (std::is_same_v<T, base::Digest>) append_quoted(out, value.text());
  else if constexpr (std::is_enum_v<T>) append_quoted(out, enum_name(value));
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) append_integer(out, value);
  else if constexpr (std::is_integral_v<T>) append_unsigned(out, value);
  else if constexpr (is_id<T>) append_unsigned(out, value.value);
  else if constexpr (std::is_same_v<T, base::Cpus>) append_cpus(out, value);
  else if constexpr (std::is_same_v<T, base::Mebibytes>) append_integer(out, value.value);
  else if constexpr (std::is_same_v<T, base::Duration>) append_seconds(out, value);
  else if constexpr (std::is_same_v<T, base::Time>) append_integer(out, base::micros(value));
  else if constexpr (std::is_same_v<T, base::NodeSet>) write_node_set(out, value);
  else if constexpr (is_vector<T>) write_list(out, value);
  else if constexpr (is_shared<T> || is_rare<T>) write_value(out, *value);
  else if constexpr (is_optional<T>) {
    if (value.has_value()) write_value(out, *value);
    else out += "null";
  } else if constexpr (is_pair<T>) {
    out += '[';
    write_value(out, value.first);
    out += ',';
    write_value(out, value.second);
    out += ']';
  } else {
    write_object(out, value);
  }
}

}  // namespace sy::wire
