// What is wrong in a file that somebody wrote: a refusal with its file, line and column, and the list that collects them
// all. Not how a single value is refused (base/result.hpp) and not a warning about the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace sy::wire {

// Where something was written. Lines and columns count from 1; 0: not known.
struct FileMark {
  std::uint32_t line{};
  std::uint32_t column{};
  bool operator==(const FileMark&) const = default;
};

struct Fault {
  std::string file;
  FileMark mark;
  base::Error error;
  bool operator==(const Fault&) const = default;
};

// "topology.yaml:12:7: nodes: node n3 is listed under two leaves (given: leaf1, leaf2)"
std::string to_text(const Fault&);

// What one file may cost to read, whoever wrote it: a short text must not become a large tree, nor keep a thread for minutes.
// Counted down as it is read; what is over is a fault.
struct ReadBudget {
  std::size_t names{4'000'000};   // that host lists and patterns unfold to
  std::size_t values{2'000'000};  // of YAML, after aliases
  std::uint64_t pattern_steps{~std::uint64_t{0}};
  // For a text of a user who is no administrator.
  static ReadBudget small() { return {200'000, 100'000, 200'000'000}; }
};

// Collects faults of one file, so that a reader can go on and tell all of them at once. Keeps at most `limit`, and counts
// the rest.
class Faults {
 public:
  explicit Faults(std::string file, std::size_t limit = 200) : file_(std::move(file)), limit_(limit) {}

  void add(FileMark, base::Error);
  void add(FileMark mark, std::string message, std::string field = {}, std::string value = {}, std::string hint = {});
  void add(const Fault&);  // of another file, as it is

  bool empty() const { return list_.empty(); }
  std::size_t count() const { return list_.size() + dropped_; }
  const std::vector<Fault>& list() const { return list_; }
  const std::string& file() const { return file_; }
  ReadBudget budget{};  // it goes wherever the faults go
  // One Error whose message is every fault, one a line. Only when not empty().
  base::Error to_error() const;

 private:
  std::string file_;
  std::size_t limit_;
  std::size_t dropped_{};
  std::vector<Fault> list_;
};

}  // namespace sy::wire
