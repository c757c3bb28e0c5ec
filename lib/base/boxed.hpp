// A value that most of its owners do not have: std::optional's interface over one pointer, so that those without it stay small.
// Copies are deep. Not a shared or polymorphic pointer.
#pragma once

#include <memory>
#include <optional>
#include <utility>

namespace sy::base {

template <class T>
class Boxed {
 public:
  using value_type = T;

  Boxed() = default;
  Boxed(std::nullopt_t) {}
  Boxed(T value) : held_(std::make_unique<T>(std::move(value))) {}
  Boxed(std::optional<T> value) : held_(value ? std::make_unique<T>(std::move(*value)) : nullptr) {}
  Boxed(const Boxed& other) : held_(other.held_ ? std::make_unique<T>(*other.held_) : nullptr) {}
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(const Boxed& other) {
    if (this != &other) *this = Boxed(other);
    return *this;
  }
  Boxed& operator=(Boxed&&) noexcept = default;
  ~Boxed() = default;

  bool has_value() const { return held_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  T& operator*() { return *held_; }
  const T& operator*() const { return *held_; }
  T* operator->() { return held_.get(); }
  const T* operator->() const { return held_.get(); }
  template <class... Args>
  T& emplace(Args&&... args) {
    held_ = std::make_unique<T>(std::forward<Args>(args)...);
    return *held_;
  }
  void reset() { held_.reset(); }

  friend bool operator==(const Boxed& a, const Boxed& b) { return a.held_ && b.held_ ? *a.held_ == *b.held_ : a.held_ == b.held_; }

 private:
  std::unique_ptr<T> held_;
};

}  // namespace sy::base
