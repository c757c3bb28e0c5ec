// Volcano's HyperNode resources (topology.volcano.sh): members are nodes or other HyperNodes, chosen by exact name, by a
// pattern over names, or by labels; the tier numbers the levels, the lowest is the nearest.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "wire/topology/name_pattern.hpp"
#include "wire/topology/read_topology.hpp"
#include "wire/yaml_reader.hpp"

namespace sy::wire {
namespace {

struct Tier {
  std::string name;
  FileMark mark;
};

class HyperNodeReader {
 public:
  HyperNodeReader(const KnownNodes& known, Faults& faults) : known_(known), faults_(faults) {}

  void take(const YamlNode& document) {
    const auto* kind = document.find("kind");
    if (kind == nullptr) return;
    if (kind->scalar == "HyperNode") objects_.push_back(&document);
    const auto* items = document.find("items");
    if (items != nullptr && (kind->scalar == "List" || kind->scalar == "HyperNodeList"))
      for (const auto& n : items->items) {
        const auto* inner = n.find("kind");
        if (kind->scalar == "HyperNodeList" || (inner != nullptr && inner->scalar == "HyperNode")) objects_.push_back(&n);
      }
  }

  TopologyText run() {
    for (const auto* o : objects_) {
      const auto* metadata = o->find("metadata");
      const auto* name = metadata == nullptr ? nullptr : metadata->find("name");
      names_.push_back(name == nullptr ? std::string{} : name->scalar);
      if (names_.back().empty()) faults_.add(o->mark, "this key is missing or empty", "metadata.name");
    }
    for (std::size_t i = 0; i < objects_.size(); ++i) read(*objects_[i], i);
    t_.kind = model::Topology::Kind::tree;
    t_.joined = true;  // Volcano lets jobs without a wish span everything
    for (auto tier = tiers_.rbegin(); tier != tiers_.rend(); ++tier) t_.levels.push_back({tier->second.name, {}});
    for (std::size_t i = 0; i < t_.domains.size(); ++i) t_.domains[i].level = tiers_[tier_of_[i]].name;
    if (t_.domains.empty() && faults_.empty()) faults_.add({}, "the file has no HyperNode: nothing to place on");
    return std::move(t_);
  }

 private:
  void read(const YamlNode& object, std::size_t i) {
    DomainText d{names_[i], object.mark, {}, {}, {}};
    std::int64_t tier = 0;
    if (const auto* spec = object.find("spec")) {
      YamlMap m(*spec, "spec", faults_);
      m.require("tier");
      tier = m.integer("tier", 0, 31).value_or(0);
      const auto tier_name = m.text("tierName").value_or("");
      name_tier(tier, tier_name, m.mark_of("tierName"));
      m.each("members", [&](const YamlNode& n, const std::string& path) { read_member(n, path, d); });
      m.finish();
    } else {
      faults_.add(object.mark, "this key is missing or empty", "spec");
      name_tier(0, "", object.mark);
    }
    tier_of_.push_back(tier);
    t_.domains.push_back(std::move(d));
  }

  void name_tier(std::int64_t tier, const std::string& name, FileMark mark) {
    auto [found, fresh] = tiers_.emplace(tier, Tier{name.empty() ? fmt::format("tier{}", tier) : name, mark});
    if (fresh || name.empty() || found->second.name == name) return;
    if (found->second.name == fmt::format("tier{}", tier)) found->second = {name, mark};
    else
      faults_.add(mark,
                  fmt::format("tier {} is called {} here and {} on line {}", tier, name, found->second.name, found->second.mark.line));
  }

  void read_member(const YamlNode& n, const std::string& path, DomainText& d) {
    YamlMap m(n, path, faults_);
    const auto type = m.word("type", {"Node", "HyperNode"}).value_or("Node");
    m.require("selector");
    const auto* selector = m.child("selector");
    m.finish();
    if (selector == nullptr) return;
    YamlMap s(*selector, path + ".selector", faults_);
    auto& out = type == "Node" ? d.nodes : d.children;
    const auto* exact = s.child("exactMatch");
    const auto* pattern = s.child("regexMatch");
    const auto* labels = s.child("labelMatch");
    s.finish();
    const int given = (exact != nullptr ? 1 : 0) + (pattern != nullptr ? 1 : 0) + (labels != nullptr ? 1 : 0);
    if (given != 1) {
      faults_.add(n.mark, "a selector has exactly one of exactMatch, regexMatch, labelMatch", path + ".selector");
      return;
    }
    if (exact != nullptr) {
      YamlMap e(*exact, path + ".selector.exactMatch", faults_);
      e.require("name");
      if (auto name = e.text("name")) out.push_back({std::move(*name), n.mark});
      e.finish();
    } else if (pattern != nullptr) {
      YamlMap p(*pattern, path + ".selector.regexMatch", faults_);
      p.require("pattern");
      const auto compiled = p.parsed("pattern", [](std::string_view text) { return NamePattern::compile(text); });
      p.finish();
      if (compiled)
        select(type, path, n.mark, d,
               [&](const KnownNode& k) { return afford(compiled->steps(k.name), n.mark) && compiled->matches(k.name); });
    } else {
      read_labels_member(*labels, type, path, n.mark, d);
    }
  }

  void read_labels_member(const YamlNode& n, const std::string& type, const std::string& path, FileMark mark, DomainText& d) {
    YamlMap l(n, path + ".selector.labelMatch", faults_);
    std::vector<std::pair<std::string, std::string>> wanted;
    l.each_entry("matchLabels", [&](const YamlNode& label, const std::string&) { wanted.emplace_back(label.key, label.scalar); });
    l.finish();
    if (wanted.empty()) return;
    if (type != "Node") {
      faults_.add(mark, "HyperNodes can not be selected by label here", path, {}, "use exactMatch or regexMatch");
      return;
    }
    select(type, path, mark, d, [&](const KnownNode& k) {
      return afford(wanted.size() * (k.labels.size() + 1), mark) && std::all_of(wanted.begin(), wanted.end(), [&](const auto& w) {
               return std::find(k.labels.begin(), k.labels.end(), w) != k.labels.end();
             });
    });
  }

  bool afford(std::uint64_t steps, FileMark mark) {
    auto& left = faults_.budget.pattern_steps;
    if (left == 0) return false;  // told already
    if (steps < left) return left -= steps, true;
    left = 0;
    faults_.add(mark, base::Error{base::Code::too_large, "the file's patterns take more steps than may be spent on one", {}, {}, {}, {}});
    return false;
  }

  bool one_more(FileMark mark) {
    auto& left = faults_.budget.names;
    if (left == 0) return false;  // told already
    if (--left == 0) refuse_more_names(mark, {}, faults_);
    return left != 0;
  }

  template <class Wanted>
  void select(const std::string& type, const std::string& path, FileMark mark, DomainText& d, Wanted wanted) {
    if (type == "HyperNode") {
      for (const auto& name : names_)
        if (name != d.name && wanted(KnownNode{name, {}}) && one_more(mark)) d.children.push_back({name, mark});
      return;
    }
    if (!known_) {
      faults_.add(mark, "patterns and labels select from the cluster's nodes, and no cluster is known", path, {},
                  "give --cluster, or name the nodes with exactMatch");
      return;
    }
    if (!nodes_) nodes_ = known_();
    std::set<std::string> have;
    for (const auto& n : d.nodes) have.insert(n.name);
    for (const auto& k : *nodes_)
      if (wanted(k) && have.insert(k.name).second && one_more(mark)) d.nodes.push_back({k.name, mark});
  }

  const KnownNodes& known_;
  Faults& faults_;
  std::optional<std::vector<KnownNode>> nodes_;
  std::vector<const YamlNode*> objects_;
  std::vector<std::string> names_;     // by object
  std::vector<std::int64_t> tier_of_;  // by domain
  std::map<std::int64_t, Tier> tiers_;
  TopologyText t_;
};

}  // namespace

TopologyFile read_hypernodes(std::string_view text, const KnownNodes& known, Faults& faults) {
  TopologyFile file;
  const auto documents = read_yaml(text, faults);
  HyperNodeReader reader(known, faults);
  for (const auto& d : documents) reader.take(d);
  file.topologies.push_back(reader.run());
  return file;
}

}  // namespace sy::wire
