// A value that is nearly always at its default: a null pointer then, so that those who never say more stay small. Reads like the
// value; equality does not tell a null from a default. Not an optional one (boxed.hpp): there is always a value to read.
#pragma once

#include <memory>
#include <utility>

namespace sy::base {

template <class T>
class Rare {
 public:
  using value_type = T;

  Rare() = default;
  Rare(T value) : held_(value == T{} ? nullptr : std::make_unique<T>(std::move(value))) {}
  Rare(const Rare& other) : held_(other.held_ ? std::make_unique<T>(*other.held_) : nullptr) {}
  Rare(Rare&&) noexcept = default;
  Rare& operator=(const Rare& other) {
    if (this != &other) *this = Rare(other);
    return *this;
  }
  Rare& operator=(Rare&&) noexcept = default;
  ~Rare() = default;

  const T& operator*() const {
    static const T at_default{};
    return held_ ? *held_ : at_default;
  }
  const T* operator->() const { return &**this; }
  T& edit() {
    if (!held_) held_ = std::make_unique<T>();
    return *held_;
  }

  friend bool operator==(const Rare& a, const Rare& b) { return *a == *b; }

 private:
  std::unique_ptr<T> held_;
};

}  // namespace sy::base
