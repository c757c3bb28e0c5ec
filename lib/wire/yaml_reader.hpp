// Strict YAML: a small tree with line marks, and a reader of mappings that collects every fault instead of stopping at the
// first. Not a binding of any one file (configuration, topologies) and not a writer.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/fault.hpp"

namespace sy::wire {

// One value of the document. Aliases are copies (counted against the budget).
struct YamlNode {
  enum class Kind : std::uint8_t { null, scalar, sequence, mapping };
  Kind kind{Kind::null};
  bool quoted{};  // a scalar in quotes: always text
  FileMark mark;
  std::string key;  // its key, where the parent is a mapping
  FileMark key_mark;
  std::string scalar;
  std::vector<YamlNode> items;  // of a sequence or mapping, in the order written

  const YamlNode* find(std::string_view name) const;  // of a mapping; linear
  bool is_mapping() const { return kind == Kind::mapping; }
  bool is_sequence() const { return kind == Kind::sequence; }
  bool is_scalar() const { return kind == Kind::scalar; }
  bool is_null() const { return kind == Kind::null; }
};

struct YamlLimits {
  std::size_t bytes{64U << 20U};
  std::size_t nodes{2'000'000};  // values, after aliases: a small file can not become a large tree
  std::size_t depth{64};
};

// Every document of the text. Refused: more than a limit allows, a syntax error, a key written twice, a key that is not a
// plain word, an alias inside its own anchor, tags. An empty text gives no document.
std::vector<YamlNode> read_yaml(std::string_view text, Faults&, const YamlLimits& = {});

// Exactly one document; nullopt with a fault otherwise.
std::optional<YamlNode> read_yaml_document(std::string_view text, Faults&, const YamlLimits& = {});

// Reads one mapping. Each getter marks its key as known; absent or null: nullopt; of the wrong type: a fault and nullopt.
// finish() adds a fault for each key that no getter asked for, with the nearest known one.
//
//   YamlMap m(node, "nodes[2]", faults);
//   shape.cpus = m.integer("cpus", 1, 65536).value_or(1);
//   m.each("gres", [&](const YamlNode& item, const std::string& path) { … });
//   m.finish();
class YamlMap {
 public:
  // A node that is no mapping (null counts as an empty one): a fault, and every getter answers nullopt.
  YamlMap(const YamlNode&, std::string path, Faults&);

  std::optional<std::string> text(std::string_view key);
  std::optional<bool> boolean(std::string_view key);
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t min = std::numeric_limits<std::int64_t>::min(),
                                      std::int64_t max = std::numeric_limits<std::int64_t>::max());
  std::optional<double> number(std::string_view key, double min, double max);
  // A scalar is a list of one.
  std::optional<std::vector<std::string>> text_list(std::string_view key);
  std::optional<std::vector<std::int64_t>> integer_list(std::string_view key, std::int64_t min, std::int64_t max);
  // One of the words; the fault names them all.
  std::optional<std::string> word(std::string_view key, const std::vector<std::string>& words);
  // Through a parser of its own language: "4G", "1-00:00:00". Its error gets the field and the line.
  template <class Parse>
  auto parsed(std::string_view key, Parse&& parse) -> std::optional<typename decltype(parse(std::string_view{}))::value_type> {
    const auto written = text(key);
    if (!written) return std::nullopt;
    auto value = parse(std::string_view{*written});
    if (value) return std::move(*value);
    refuse(key, value.error());
    return std::nullopt;
  }
  // The child as it is; nullptr when absent or null.
  const YamlNode* child(std::string_view key);
  // Each item of a sequence, with its path ("nodes[2]").
  void each(std::string_view key, const std::function<void(const YamlNode&, const std::string& path)>&);
  // Each value of a mapping, with its path ("switches.core"); the name is node.key.
  void each_entry(std::string_view key, const std::function<void(const YamlNode&, const std::string& path)>&);

  // A fault at this mapping when none of its getters found `key`.
  void require(std::string_view key);
  // A fault at the key's line (the mapping's own where the key is absent).
  void refuse(std::string_view key, base::Error);
  void refuse(std::string_view key, std::string message, std::string value = {}, std::string hint = {});
  // Known but of no use here: neither read nor refused.
  void ignore(std::string_view key);
  void finish();

  bool has(std::string_view key) const { return node_ != nullptr && node_->find(key) != nullptr; }
  std::string path_of(std::string_view key) const;
  FileMark mark() const { return mark_; }
  FileMark mark_of(std::string_view key) const;

 private:
  const YamlNode* look(std::string_view key);
  const YamlNode* scalar(std::string_view key, std::string_view wanted);

  const YamlNode* node_{};  // null: it was no mapping
  FileMark mark_;
  std::string path_;
  Faults& faults_;
  std::vector<std::string> known_;
};

}  // namespace sy::wire
