// Slurm's topology.conf, as its manual page describes it: Key=Value pairs, case-insensitive keys, comments to the end of the
// line, a backslash before the line's end continues it.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/option_table.hpp"
#include "wire/topology/read_topology.hpp"
#include "wire/topology/topology_remark.hpp"

namespace sy::wire {
namespace {

struct Pair {
  std::string key;      // lower case
  std::string written;  // as in the file
  std::string value;
  FileMark mark;
};

const std::vector<std::string> known_keys{"SwitchName", "Switches", "Nodes", "LinkSpeed", "BlockName", "BlockSizes"};

// Cuts the text into logical lines of pairs.
class PairReader {
 public:
  PairReader(std::string_view text, Faults& faults) : text_(text), faults_(faults) {}

  // false at the end of the text. An empty line gives no pairs.
  bool next(std::vector<Pair>& pairs) {
    pairs.clear();
    if (at_ >= text_.size()) return false;
    while (skip_blanks()) {
      Pair p;
      if (!read_key(p)) {
        skip_line();
        break;
      }
      if (!read_value(p)) {
        skip_line();
        break;
      }
      pairs.push_back(std::move(p));
    }
    return true;
  }

 private:
  bool at_end() const { return at_ >= text_.size(); }
  char here() const { return text_[at_]; }
  FileMark mark() const { return {line_, static_cast<std::uint32_t>(at_ - line_start_ + 1)}; }
  void newline() {
    ++at_;
    ++line_;
    line_start_ = at_;
  }
  bool at_continuation() const { return here() == '\\' && (text_.substr(at_ + 1, 1) == "\n" || text_.substr(at_ + 1, 2) == "\r\n"); }
  void skip_line() {
    while (!at_end() && here() != '\n') ++at_;
    if (!at_end()) newline();
  }
  // To the next word of this logical line; false at its end (which is consumed).
  bool skip_blanks() {
    while (!at_end()) {
      if (at_continuation()) {
        at_ = text_.find('\n', at_);
        newline();
      } else if (here() == '\n') {
        newline();
        return false;
      } else if (here() == '#') {
        skip_line();
        return false;
      } else if (std::isspace(static_cast<unsigned char>(here())) != 0) {
        ++at_;
      } else {
        return true;
      }
    }
    return false;
  }
  bool read_key(Pair& p) {
    p.mark = mark();
    const auto from = at_;
    while (!at_end() && here() != '=' && here() != '#' && std::isspace(static_cast<unsigned char>(here())) == 0 && !at_continuation())
      ++at_;
    p.written = text_.substr(from, at_ - from);
    p.key = p.written;
    std::transform(p.key.begin(), p.key.end(), p.key.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (p.key == "include") {
      faults_.add(p.mark, "Include is not followed", p.written, {}, "put the lines into one file");
      return false;
    }
    while (!at_end() && (here() == ' ' || here() == '\t')) ++at_;
    if (at_end() || here() != '=') {
      faults_.add(p.mark, "Key=Value belongs here", {}, p.written);
      return false;
    }
    ++at_;
    return true;
  }
  // The next word is a key with its '=': "SwitchName= Nodes=n1" gives the switch no name, not the name "Nodes=n1".
  bool at_key() const {
    const auto word = text_.substr(at_, text_.find_first_of("=# \t\r\n", at_) - at_);
    if (text_.substr(at_ + word.size(), 1) != "=") return false;
    return std::any_of(known_keys.begin(), known_keys.end(), [&](std::string_view k) {
      return std::equal(k.begin(), k.end(), word.begin(), word.end(),
                        [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
    });
  }
  bool read_value(Pair& p) {
    const auto from_key = at_;
    while (!at_end() && (here() == ' ' || here() == '\t')) ++at_;
    if (at_ != from_key && at_key()) {
      faults_.add(p.mark, "the value is missing", p.written);
      return false;
    }
    if (!at_end() && here() == '"') {
      ++at_;
      const auto from = at_;
      while (!at_end() && here() != '"' && here() != '\n') ++at_;
      if (at_end() || here() != '"') {
        faults_.add(p.mark, "the closing quote is missing", p.written);
        return false;
      }
      p.value = text_.substr(from, at_ - from);
      ++at_;
      return true;
    }
    while (!at_end()) {
      if (at_continuation()) {  // inside a value: it goes on where the next line starts
        at_ = text_.find('\n', at_);
        newline();
        if (!at_end() && std::isspace(static_cast<unsigned char>(here())) != 0) break;
        continue;
      }
      if (here() == '#' || std::isspace(static_cast<unsigned char>(here())) != 0) break;
      p.value += here();
      ++at_;
    }
    if (!p.value.empty()) return true;
    faults_.add(p.mark, "the value is missing", p.written);
    return false;
  }

  std::string_view text_;
  Faults& faults_;
  std::size_t at_{};
  std::size_t line_start_{};
  std::uint32_t line_{1};
};

class ConfReader {
 public:
  ConfReader(TopologyText& t, Faults& faults) : t_(t), faults_(faults) {}

  void line(const std::vector<Pair>& pairs) {
    const auto* first = &pairs.front();
    if (first->key == "switchname") switch_line(pairs);
    else if (first->key == "blockname") block_line(pairs);
    else if (first->key == "blocksizes") sizes_line(pairs);
    else unknown(*first, "a line starts with SwitchName, BlockName or BlockSizes");
  }

  void finish() {
    if (switches_ && (blocks_ || !t_.block_sizes.empty()))
      faults_.add(switch_mark_, "switches and blocks are mixed in one file", {}, {}, "keep one kind; use topology.yaml for both");
    t_.kind = switches_ ? model::Topology::Kind::tree : model::Topology::Kind::block;
    if (t_.domains.empty() && faults_.empty()) faults_.add({}, "the file describes no switch and no block: nothing to place on");
  }

 private:
  void unknown(const Pair& p, const std::string& rule) {
    const auto near = base::nearest(p.written, known_keys);
    faults_.add(p.mark, rule, p.written, {}, near.empty() ? std::string{} : fmt::format("did you mean {}?", near));
  }
  bool twice(const Pair& p, bool& seen) {
    if (seen) faults_.add(p.mark, "this key is written twice in one line", p.written);
    return std::exchange(seen, true);
  }
  void switch_line(const std::vector<Pair>& pairs) {
    if (!switches_) switch_mark_ = pairs.front().mark;
    switches_ = true;
    DomainText d{pairs.front().value, pairs.front().mark, {}, {}, {}};
    bool children = false, nodes = false, speed = false;
    for (auto p = pairs.begin() + 1; p != pairs.end(); ++p) {
      if (p->key == "switches") {
        if (!twice(*p, children)) add_hostlist(p->value, p->mark, p->written, d.children, faults_);
      } else if (p->key == "nodes") {
        if (!twice(*p, nodes)) add_hostlist(p->value, p->mark, p->written, d.nodes, faults_);
      } else if (p->key == "linkspeed") {
        if (!twice(*p, speed)) d.link_speed = p->value;  // Slurm reads it and uses it for nothing; so do we, and keep it
      } else {
        unknown(*p, "this key is not known in a SwitchName line");
      }
    }
    t_.domains.push_back(std::move(d));
  }
  void block_line(const std::vector<Pair>& pairs) {
    blocks_ = true;
    DomainText d{pairs.front().value, pairs.front().mark, {}, {}, {}};
    bool nodes = false;
    for (auto p = pairs.begin() + 1; p != pairs.end(); ++p) {
      if (p->key == "nodes") {
        if (!twice(*p, nodes)) add_hostlist(p->value, p->mark, p->written, d.nodes, faults_);
      } else if (p->key == "blocksizes") {
        sizes(*p);
      } else {
        unknown(*p, "this key is not known in a BlockName line");
      }
    }
    t_.domains.push_back(std::move(d));
  }
  void sizes_line(const std::vector<Pair>& pairs) {
    sizes(pairs.front());
    for (auto p = pairs.begin() + 1; p != pairs.end(); ++p) unknown(*p, "BlockSizes stands alone in its line");
  }
  void sizes(const Pair& p) {
    if (!t_.block_sizes.empty()) {
      faults_.add(p.mark, fmt::format("this key is written twice, first on line {}", t_.block_sizes_mark.line), p.written);
      return;
    }
    t_.block_sizes_mark = p.mark;
    const char* at = p.value.data();
    const char* const end = at + p.value.size();
    while (at != end) {
      std::uint32_t size{};
      const auto [stopped, error] = std::from_chars(at, end, size);
      if (error != std::errc{} || (stopped != end && *stopped != ',') || size == 0) {
        faults_.add(p.mark, "numbers of nodes with commas between them belong here", p.written, p.value);
        return;
      }
      t_.block_sizes.push_back(size);
      at = stopped == end ? end : stopped + 1;
    }
  }

  TopologyText& t_;
  Faults& faults_;
  bool switches_{}, blocks_{};
  FileMark switch_mark_;
};

}  // namespace

TopologyFile read_slurm_conf(std::string_view text, Faults& faults) {
  TopologyFile file;
  TopologyText t;
  ConfReader reader(t, faults);
  PairReader lines(text, faults);
  std::vector<Pair> pairs;
  while (lines.next(pairs))
    if (!pairs.empty()) reader.line(pairs);
  reader.finish();
  apply_remarks(text, t);
  file.topologies.push_back(std::move(t));
  return file;
}

}  // namespace sy::wire
