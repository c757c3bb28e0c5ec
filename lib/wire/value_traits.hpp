// Which of our value types a member is: shared by the writer and the reader of described members.
// Not a description: which members a type has is said once, in describe_*.hpp.
#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/boxed.hpp"
#include "base/id.hpp"
#include "base/rare.hpp"

namespace sy::wire {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_optional<base::Boxed<T>> = true;
template <class T>
inline constexpr bool is_rare = false;
template <class T>
inline constexpr bool is_rare<base::Rare<T>> = true;
template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <class T>
inline constexpr bool is_pair = false;
template <class A, class B>
inline constexpr bool is_pair<std::pair<A, B>> = true;
template <class T>
inline constexpr bool is_id = false;
template <class Tag, class Rep>
inline constexpr bool is_id<base::Id<Tag, Rep>> = true;
template <class T>
inline constexpr bool is_shared = false;
template <class T>
inline constexpr bool is_shared<std::shared_ptr<const T>> = true;

// What a request may hold at most. Texts in bytes, lists in items; numbers within min…max and their type's own range.
struct Limit {
  std::size_t text{1024};
  std::size_t items{1024};
  std::int64_t min{INT64_MIN};
  std::int64_t max{INT64_MAX};
};
constexpr Limit text_limit(std::size_t bytes) { return {.text = bytes}; }
constexpr Limit list_limit(std::size_t items, std::size_t bytes = 1024) { return {.text = bytes, .items = items}; }
constexpr Limit range_limit(std::int64_t min, std::int64_t max) { return {.min = min, .max = max}; }
constexpr Limit list_range_limit(std::size_t items, std::int64_t min, std::int64_t max) { return {.items = items, .min = min, .max = max}; }

}  // namespace sy::wire
