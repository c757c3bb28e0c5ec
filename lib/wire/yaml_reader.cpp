#include "wire/yaml_reader.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>
#include <unordered_map>

#include "base/option_table.hpp"
#include "wire/yaml_unclosed.hpp"

namespace sy::wire {
namespace {

FileMark mark_from(const YAML::Mark& m) {
  if (m.is_null()) return {};
  return {static_cast<std::uint32_t>(m.line + 1), static_cast<std::uint32_t>(m.column + 1)};
}

// Thrown out of the parser's callbacks to stop it at once; never leaves read_yaml.
struct StopReading {
  FileMark mark;
  base::Error error;
  int value{-1};  // where the value begins that an unclosed bracket or quote may have spoiled
};

[[noreturn]] void stop(FileMark mark, std::string message, std::string limit = {}, int value = -1) {
  throw StopReading{mark, {base::Code::invalid_argument, std::move(message), {}, std::move(limit), {}, {}}, value};
}

std::size_t tree_size(const YamlNode& n) {
  std::size_t total = 1;
  for (const auto& i : n.items) total += tree_size(i);
  return total;
}

std::size_t tree_depth(const YamlNode& n) {
  std::size_t deepest = 0;
  for (const auto& i : n.items) deepest = std::max(deepest, tree_depth(i));
  return deepest + 1;
}

// Builds the tree from the parser's events and keeps the budgets.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(Faults& faults, const YamlLimits& limits) : faults_(faults), limits_(limits) {}

  std::vector<YamlNode> documents;

  // Where the value begins that the text may have ended in: the brackets that are open, else the last scalar. -1: none.
  int last_value() const {
    for (const Open& o : open_)
      if (o.in_brackets) return o.position;
    return last_scalar_;
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    // yaml-cpp reads nothing of a document that begins with a stray ',' or ']', and finds it again, for ever.
    if (started_ && mark.pos == last_start_) stop(mark_from(mark), "this is not valid YAML: a value can not begin like this");
    started_ = true;
    last_start_ = mark.pos;
    open_.clear();
    anchors_.clear();
    root_.reset();
  }
  void OnDocumentEnd() override {
    if (root_) documents.push_back(std::move(*root_));
    root_.reset();
  }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlNode n;
    n.mark = mark_from(mark);
    place(std::move(n), anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override {
    last_scalar_ = mark.pos;
    YamlNode n;
    n.kind = YamlNode::Kind::scalar;
    n.mark = mark_from(mark);
    n.quoted = tag == "!";
    refuse_tag(tag, n.mark);
    n.scalar = value;
    place(std::move(n), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) stop(mark_from(mark), "an alias is used inside the value that it names");
    // Its size is known, so the budget is checked before anything is copied.
    count(found->second.size, mark_from(mark));
    if (open_.size() + found->second.depth > limits_.depth) too_deep(mark_from(mark));
    YamlNode copy = found->second.node;
    copy.mark = mark_from(mark);
    attach(std::move(copy));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value style) override {
    open(YamlNode::Kind::sequence, mark, tag, anchor, style == YAML::EmitterStyle::Flow);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value style) override {
    open(YamlNode::Kind::mapping, mark, tag, anchor, style == YAML::EmitterStyle::Flow);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YamlNode node;
    YAML::anchor_t anchor{};
    int position{};
    bool in_brackets{};
    bool has_key{};
    std::string key;
    FileMark key_mark;
    std::unordered_map<std::string, FileMark> keys;  // only of a mapping with many
  };
  static constexpr std::size_t few_keys = 16;
  struct Anchored {
    YamlNode node;
    std::size_t size{};
    std::size_t depth{};
  };

  bool started_{};
  int last_start_{};
  int last_scalar_{-1};

  [[noreturn]] void too_deep(FileMark mark) const { stop(mark, "the file is nested too deeply", fmt::format("{} levels", limits_.depth)); }

  void count(std::size_t more, FileMark mark) {
    used_ += more;
    const auto most = std::min(limits_.nodes, faults_.budget.values);
    if (used_ > most) stop(mark, "the file holds too many values, aliases included", fmt::format("{} values", most));
  }
  void refuse_tag(const std::string& tag, FileMark mark) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    if (tag.rfind("tag:yaml.org,2002:", 0) == 0) return;  // the core types change nothing: the field decides its type
    faults_.add(mark, "tags have no meaning here", {}, tag, "remove the tag");
  }
  void open(YamlNode::Kind kind, const YAML::Mark& position, const std::string& tag, YAML::anchor_t anchor, bool in_brackets) {
    const FileMark mark = mark_from(position);
    count(1, mark);
    refuse_tag(tag, mark);
    if (open_.size() >= limits_.depth) too_deep(mark);
    if (wants_key()) stop(mark, "a key must be a word, not a list or a mapping", {}, position.pos);
    Open o;
    o.node.kind = kind;
    o.node.mark = mark;
    o.anchor = anchor;
    o.position = position.pos;
    o.in_brackets = in_brackets;
    open_.push_back(std::move(o));
  }
  void close() {
    Open o = std::move(open_.back());
    open_.pop_back();
    remember(o.anchor, o.node);
    attach(std::move(o.node));
  }
  void place(YamlNode n, YAML::anchor_t anchor) {
    count(1, n.mark);
    remember(anchor, n);
    attach(std::move(n));
  }
  void remember(YAML::anchor_t anchor, const YamlNode& n) {
    if (anchor == 0) return;
    const auto size = tree_size(n);
    count(size, n.mark);  // the copy kept for the aliases
    anchors_[anchor] = Anchored{n, size, tree_depth(n)};
  }
  bool wants_key() const { return !open_.empty() && open_.back().node.kind == YamlNode::Kind::mapping && !open_.back().has_key; }
  void attach(YamlNode n) {
    if (open_.empty()) {
      root_ = std::move(n);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == YamlNode::Kind::sequence) {
      parent.node.items.push_back(std::move(n));
      return;
    }
    if (!parent.has_key) {
      if (n.kind != YamlNode::Kind::scalar) stop(n.mark, "a key must be a word");
      parent.has_key = true;
      parent.key = std::move(n.scalar);
      parent.key_mark = n.mark;
      return;
    }
    parent.has_key = false;
    n.key = std::move(parent.key);
    n.key_mark = parent.key_mark;
    if (const auto first = written_before(parent, n)) {
      faults_.add(n.key_mark, fmt::format("this key is written twice, first on line {}", first->line), n.key, {}, "keep one of them");
      return;
    }
    parent.node.items.push_back(std::move(n));
  }
  // Most mappings have a few keys, and a file has very many of them: those are compared, not hashed.
  static std::optional<FileMark> written_before(Open& parent, const YamlNode& n) {
    if (parent.node.items.size() < few_keys) {
      for (const auto& i : parent.node.items)
        if (i.key == n.key) return i.key_mark;
      return std::nullopt;
    }
    if (parent.keys.empty())
      for (const auto& i : parent.node.items) parent.keys.emplace(i.key, i.key_mark);
    const auto [first, fresh] = parent.keys.emplace(n.key, n.key_mark);
    return fresh ? std::nullopt : std::optional{first->second};
  }

  Faults& faults_;
  const YamlLimits& limits_;
  std::size_t used_{};
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  std::optional<YamlNode> root_;
};

std::string kind_text(const YamlNode& n) {
  switch (n.kind) {
    case YamlNode::Kind::null: return "nothing";
    case YamlNode::Kind::scalar: return n.scalar;
    case YamlNode::Kind::sequence: return "a list";
    case YamlNode::Kind::mapping: return "a mapping";
  }
  return {};
}

template <class T>
bool whole_number(const std::string& text, T& out) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (begin != end && *begin == '+') ++begin;
  const auto [stopped, error] = std::from_chars(begin, end, out);
  return error == std::errc{} && stopped == end && begin != end;
}

// A fault when the value that begins at `position` is never closed. yaml-cpp counts no byte order mark.
bool tell_unclosed(std::string_view text, int position, Faults& faults) {
  if (position < 0) return false;
  const std::size_t skipped = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  const auto at = unclosed_in(text.substr(skipped), static_cast<std::size_t>(position));
  if (!at) return false;
  const auto before = text.substr(skipped, *at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto column = *at - (before.rfind('\n') + 1) + 1;
  const char opened = text[skipped + *at];
  const bool quote = opened == '"' || opened == '\'';
  faults.add({static_cast<std::uint32_t>(line), static_cast<std::uint32_t>(column)},
             fmt::format("the {} opened here is never closed", quote ? "quote" : "bracket"), {}, std::string(1, opened),
             quote           ? fmt::format("write {} where the text ends", opened)
             : opened == '[' ? "write ] where the list ends"
                             : "write } where the mapping ends");
  return true;
}

// A text that ends inside quotes on its last line is refused by yaml-cpp where it ends; with a line break behind it, it is read.
bool tell_unclosed_quote(std::string_view text, const YamlLimits& limits, Faults& faults) {
  Faults unused{std::string{}};
  unused.budget = faults.budget;
  TreeBuilder builder(unused, limits);
  try {
    std::istringstream in{std::string(text) + '\n'};
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {}
  } catch (const StopReading&) { return false; } catch (const std::exception&) {
    return tell_unclosed(text, builder.last_value(), faults);
  }
  return tell_unclosed(text, builder.last_value(), faults);
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view name) const {
  if (kind != Kind::mapping) return nullptr;
  for (const auto& i : items)
    if (i.key == name) return &i;
  return nullptr;
}

std::vector<YamlNode> read_yaml(std::string_view text, Faults& faults, const YamlLimits& limits) {
  if (text.size() > limits.bytes) {
    faults.add({}, base::Error{base::Code::too_large,
                               "the file is too large",
                               {},
                               fmt::format("{} bytes", limits.bytes),
                               fmt::format("{} bytes", text.size()),
                               {}});
    return {};
  }
  if (const auto zero = text.find('\0'); zero != std::string_view::npos) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(zero), '\n');
    faults.add({static_cast<std::uint32_t>(line), 0}, "the file holds a zero byte: it is not text");
    return {};
  }
  TreeBuilder builder(faults, limits);
  try {
    std::istringstream in{std::string(text)};
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {}
    if (tell_unclosed(text, builder.last_value(), faults)) return {};
  } catch (const StopReading& s) {
    if (!tell_unclosed(text, s.value, faults)) faults.add(s.mark, s.error);
    return {};
  } catch (const YAML::Exception& e) {
    // Without any value read, the text's own bracket (all of JSON is inside one) is what may be open.
    if (tell_unclosed(text, std::max(builder.last_value(), 0), faults)) return {};
    if (e.msg == YAML::ErrorMsg::EOF_IN_SCALAR && tell_unclosed_quote(text, limits, faults)) return {};
    faults.add(mark_from(e.mark), "this is not valid YAML: " + e.msg);
    return {};
  } catch (const std::exception&) {  // yaml-cpp lets a few standard exceptions out on malformed input
    faults.add({}, "this is not valid YAML");
    return {};
  }
  return std::move(builder.documents);
}

std::optional<YamlNode> read_yaml_document(std::string_view text, Faults& faults, const YamlLimits& limits) {
  const auto before = faults.count();
  auto documents = read_yaml(text, faults, limits);
  if (documents.size() == 1) return std::move(documents.front());
  if (faults.count() != before) return std::nullopt;
  if (documents.empty()) faults.add({}, "the file is empty");
  else faults.add(documents[1].mark, "the file holds more than one document", {}, {}, "keep one and remove the others");
  return std::nullopt;
}

YamlMap::YamlMap(const YamlNode& node, std::string path, Faults& faults) : mark_(node.mark), path_(std::move(path)), faults_(faults) {
  if (node.is_mapping()) node_ = &node;
  else if (!node.is_null()) faults_.add(node.mark, "a mapping (key: value) belongs here", path_, kind_text(node));
}

std::string YamlMap::path_of(std::string_view key) const { return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key); }

FileMark YamlMap::mark_of(std::string_view key) const {
  const auto* n = node_ == nullptr ? nullptr : node_->find(key);
  return n == nullptr ? mark_ : n->key_mark;
}

const YamlNode* YamlMap::look(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
  if (node_ == nullptr) return nullptr;
  const auto* n = node_->find(key);
  return n == nullptr || n->is_null() ? nullptr : n;
}

const YamlNode* YamlMap::scalar(std::string_view key, std::string_view wanted) {
  const auto* n = look(key);
  if (n == nullptr || n->is_scalar()) return n;
  faults_.add(n->mark, fmt::format("{} belongs here", wanted), path_of(key), kind_text(*n));
  return nullptr;
}

const YamlNode* YamlMap::child(std::string_view key) { return look(key); }

std::optional<std::string> YamlMap::text(std::string_view key) {
  const auto* n = scalar(key, "a text");
  if (n == nullptr) return std::nullopt;
  return n->scalar;
}

std::optional<bool> YamlMap::boolean(std::string_view key) {
  const auto* n = scalar(key, "true or false");
  if (n == nullptr) return std::nullopt;
  std::string lower = n->scalar;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (lower == "true" || lower == "yes" || lower == "on") return true;
  if (lower == "false" || lower == "no" || lower == "off") return false;
  faults_.add(n->mark, "true or false belongs here", path_of(key), n->scalar);
  return std::nullopt;
}

std::optional<std::int64_t> YamlMap::integer(std::string_view key, std::int64_t min, std::int64_t max) {
  const auto* n = scalar(key, "a whole number");
  if (n == nullptr) return std::nullopt;
  std::int64_t value{};
  if (n->quoted || !whole_number(n->scalar, value)) {
    faults_.add(n->mark, "a whole number belongs here", path_of(key), n->scalar);
    return std::nullopt;
  }
  if (value < min || value > max) {
    faults_.add(
        n->mark,
        base::Error{
            base::Code::invalid_argument, "the number is out of range", path_of(key), fmt::format("{} to {}", min, max), n->scalar, {}});
    return std::nullopt;
  }
  return value;
}

std::optional<double> YamlMap::number(std::string_view key, double min, double max) {
  const auto* n = scalar(key, "a number");
  if (n == nullptr) return std::nullopt;
  double value{};
  if (n->quoted || !whole_number(n->scalar, value)) {
    faults_.add(n->mark, "a number belongs here", path_of(key), n->scalar);
    return std::nullopt;
  }
  if (!(value >= min && value <= max)) {
    faults_.add(
        n->mark,
        base::Error{
            base::Code::invalid_argument, "the number is out of range", path_of(key), fmt::format("{} to {}", min, max), n->scalar, {}});
    return std::nullopt;
  }
  return value;
}

std::optional<std::vector<std::string>> YamlMap::text_list(std::string_view key) {
  const auto* n = look(key);
  if (n == nullptr) return std::nullopt;
  if (n->is_scalar()) return std::vector{n->scalar};
  if (!n->is_sequence()) {
    faults_.add(n->mark, "a text or a list of texts belongs here", path_of(key), kind_text(*n));
    return std::nullopt;
  }
  std::vector<std::string> out;
  out.reserve(n->items.size());
  bool sound = true;
  for (std::size_t i = 0; i < n->items.size(); ++i) {
    const auto& item = n->items[i];
    if (item.is_scalar()) {
      out.push_back(item.scalar);
    } else {
      sound = false;
      faults_.add(item.mark, "a text belongs here", fmt::format("{}[{}]", path_of(key), i), kind_text(item));
    }
  }
  if (!sound) return std::nullopt;
  return out;
}

std::optional<std::vector<std::int64_t>> YamlMap::integer_list(std::string_view key, std::int64_t min, std::int64_t max) {
  const auto words = text_list(key);
  if (!words) return std::nullopt;
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < words->size(); ++i) {
    std::int64_t value{};
    if (whole_number((*words)[i], value) && value >= min && value <= max) {
      out.push_back(value);
      continue;
    }
    const auto* n = look(key);
    faults_.add(n->is_sequence() ? n->items[i].mark : n->mark, base::Error{base::Code::invalid_argument,
                                                                           "a whole number belongs here",
                                                                           fmt::format("{}[{}]", path_of(key), i),
                                                                           fmt::format("{} to {}", min, max),
                                                                           (*words)[i],
                                                                           {}});
    return std::nullopt;
  }
  return out;
}

std::optional<std::string> YamlMap::word(std::string_view key, const std::vector<std::string>& words) {
  const auto* n = scalar(key, "a word");
  if (n == nullptr) return std::nullopt;
  if (std::find(words.begin(), words.end(), n->scalar) != words.end()) return n->scalar;
  const auto near = base::nearest(n->scalar, words);
  faults_.add(n->mark, base::Error{base::Code::invalid_argument, "the word is not known here", path_of(key),
                                   fmt::format("{}", fmt::join(words, ", ")), n->scalar,
                                   near.empty() ? std::string{} : fmt::format("did you mean {}?", near)});
  return std::nullopt;
}

void YamlMap::each(std::string_view key, const std::function<void(const YamlNode&, const std::string&)>& visit) {
  const auto* n = look(key);
  if (n == nullptr) return;
  if (!n->is_sequence()) {
    faults_.add(n->mark, "a list belongs here", path_of(key), kind_text(*n));
    return;
  }
  for (std::size_t i = 0; i < n->items.size(); ++i) visit(n->items[i], fmt::format("{}[{}]", path_of(key), i));
}

void YamlMap::each_entry(std::string_view key, const std::function<void(const YamlNode&, const std::string&)>& visit) {
  const auto* n = look(key);
  if (n == nullptr) return;
  if (!n->is_mapping()) {
    faults_.add(n->mark, "a mapping (key: value) belongs here", path_of(key), kind_text(*n));
    return;
  }
  for (const auto& item : n->items) visit(item, fmt::format("{}.{}", path_of(key), item.key));
}

void YamlMap::require(std::string_view key) {
  if (look(key) == nullptr) faults_.add(mark_of(key), "this key is missing or empty", path_of(key));
}

void YamlMap::refuse(std::string_view key, base::Error error) {
  error.field = path_of(key);
  faults_.add(mark_of(key), std::move(error));
}

void YamlMap::refuse(std::string_view key, std::string message, std::string value, std::string hint) {
  faults_.add(mark_of(key), std::move(message), path_of(key), std::move(value), std::move(hint));
}

void YamlMap::ignore(std::string_view key) { look(key); }

void YamlMap::finish() {
  if (node_ == nullptr) return;
  for (const auto& item : node_->items) {
    if (std::find(known_.begin(), known_.end(), item.key) != known_.end()) continue;
    const auto near = base::nearest(item.key, known_);
    faults_.add(item.key_mark, base::Error{base::Code::invalid_argument,
                                           "this key is not known here",
                                           path_of(item.key),
                                           fmt::format("{}", fmt::join(known_, ", ")),
                                           {},
                                           near.empty() ? std::string{} : fmt::format("did you mean {}?", near)});
  }
}

}  // namespace sy::wire
