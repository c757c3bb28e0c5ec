// Amounts of what a node offers: CPUs in thousandths, memory in MiB. Only the operators that mean something exist.
// Not a parser: see size_text.hpp.
#pragma once

#include <compare>
#include <cstdint>

namespace sy::base {

namespace detail {
template <class Tag>
struct Amount {
  std::int64_t value{};

  constexpr Amount() = default;
  constexpr explicit Amount(std::int64_t v) : value(v) {}
  constexpr auto operator<=>(const Amount&) const = default;
  constexpr Amount& operator+=(Amount o) {
    value += o.value;
    return *this;
  }
  constexpr Amount& operator-=(Amount o) {
    value -= o.value;
    return *this;
  }
  friend constexpr Amount operator+(Amount a, Amount b) { return Amount{a.value + b.value}; }
  friend constexpr Amount operator-(Amount a, Amount b) { return Amount{a.value - b.value}; }
  friend constexpr Amount operator*(Amount a, std::int64_t n) { return Amount{a.value * n}; }
};
}  // namespace detail

using Cpus = detail::Amount<struct CpusTag>;            // thousandths of a CPU
using Mebibytes = detail::Amount<struct MebibytesTag>;  // MiB

constexpr Cpus whole_cpus(std::int64_t n) { return Cpus{n * 1000}; }
// Whole CPUs, rounded up: half a CPU still occupies one in what Slurm's tools print.
constexpr std::int64_t cpu_count(Cpus c) { return (c.value + 999) / 1000; }

}  // namespace sy::base
