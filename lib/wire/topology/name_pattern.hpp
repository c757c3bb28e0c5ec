// A regular expression over node names, matched in time linear in the name (Thompson's simulation): patterns come from files
// that others wrote, and std::regex can be made to run for ever or to overflow the stack.
// Not all of Go's syntax: literals, ., [classes], \d \w, groups, |, * + ? {m,n}, ^ and $.
#pragma once

#include <bitset>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace sy::wire {

class NamePattern {
 public:
  static base::Result<NamePattern> compile(std::string_view);
  // Anywhere in the name, as Go's MatchString, unless anchored.
  bool matches(std::string_view name) const;
  // At most so many steps to match it: a measure, not a time.
  std::size_t steps(std::string_view name) const { return program_.size() * (name.size() + 1); }

 private:
  friend class NamePatternCompiler;
  struct Instruction {
    enum class Op : std::uint8_t { set, split, jump, begin, end, match } op{Op::match};
    std::uint32_t a{}, b{};  // targets; for set: index into sets_, next instruction follows
  };
  void follow(std::uint32_t at, std::size_t position, std::size_t size, std::vector<std::uint32_t>& list,
              std::vector<std::uint8_t>& seen) const;

  std::vector<Instruction> program_;
  std::vector<std::bitset<256>> sets_;
};

}  // namespace sy::wire
