// The text that ibnetdiscover prints: switches and adapters with their ports, and who is at the other end of each cable.
// Hosts with the same set of leaf switches form one domain (rail-optimised fabrics have several adapters per host, each on
// its own leaf); the switches above are merged where they are connected through the same domains.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>
#include <set>

#include "base/hostlist.hpp"
#include "wire/topology/build_topology.hpp"
#include "wire/topology/read_topology.hpp"

namespace sy::wire {
namespace {

struct Device {
  bool is_switch{};
  std::string description;
  FileMark mark;
  std::set<std::string> peers;  // ids
  std::map<std::string, std::string> speed_to;  // by peer: "4xNDR"
};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  std::string word;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0) {
      word += c;
    } else if (!word.empty()) {
      out.push_back(std::exchange(word, {}));
    }
  }
  if (!word.empty()) out.push_back(word);
  return out;
}

bool has(std::string_view text, std::string_view needle) { return text.find(needle) != std::string_view::npos; }

bool is_aggregation_node(std::string_view description) { return has(description, "Aggregation Node"); }

// "4xNDR" at the end of a port's line; empty: it says none.
std::string speed_of(std::string_view remark) {
  const auto words = words_of(remark.substr(remark.rfind('"') == std::string_view::npos ? 0 : remark.rfind('"') + 1));
  if (words.empty() || words.back().size() > 16) return {};
  const auto x = words.back().find('x');
  const auto digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  const auto letter = [](unsigned char c) { return std::isalnum(c) != 0; };
  const auto& word = words.back();
  if (x == std::string::npos || x == 0 || x + 1 == word.size() ||
      !std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(x), digit))
    return {};
  return std::all_of(word.begin() + static_cast<std::ptrdiff_t>(x), word.end(), letter) ? word : std::string{};
}

// The host's name in "node7 HCA-1" or "node7 mlx5_0"; empty when the description is the vendor's.
std::string host_of(const std::string& description) {
  if (has(description, "Technologies") || has(description, "ConnectX") || has(description, "InfiniHost")) return {};
  const auto words = words_of(description);
  if (words.empty() || words.size() > 2) return {};
  const auto& host = words.front();
  if (std::isalnum(static_cast<unsigned char>(host.front())) == 0 || host.find_first_of("\"\\,[]#=") != std::string::npos) return {};
  if (host.size() > 2 && host.rfind("MT", 0) == 0 && std::isdigit(static_cast<unsigned char>(host[2])) != 0) return {};
  if (words.size() == 2 && std::none_of(words[1].begin(), words[1].end(), [](unsigned char c) { return std::isdigit(c) != 0; })) return {};
  return host;
}

// What an installer calls a host before anybody names it.
bool is_default_name(std::string_view host) { return host == "localhost" || host == "ubuntu" || host == "debian" || host == "(none)"; }

// "MF0;A09-P1-IBLEAF-04-04:MQM9701/U1" is called A09-P1-IBLEAF-04-04; empty when the description names nothing.
std::string switch_name_of(const std::string& description) {
  auto name = description;
  if (const auto semicolon = name.find(';'); semicolon != std::string::npos) name.erase(0, semicolon + 1);
  if (const auto colon = name.find(':'); colon != std::string::npos) name.erase(colon);
  const bool one_word = words_of(name).size() == 1 && !name.empty() && name.front() != ' ' && name.back() != ' ';
  return one_word && name.find_first_of("\"\\,[]#=") == std::string::npos ? name : std::string{};
}

class Discovery {
 public:
  Discovery(ImportReport& report, Faults& faults) : report_(report), faults_(faults) {}

  void read(std::string_view text) {
    std::uint32_t line_number = 0;
    for (std::size_t at = 0; at < text.size();) {
      const auto end = std::min(text.find('\n', at), text.size());
      read_line(text.substr(at, end - at), FileMark{++line_number, 1});
      at = end + 1;
    }
  }

  TopologyText build() {
    TopologyText t;
    t.kind = model::Topology::Kind::tree;
    sort_adapters();
    if (host_leaves_.empty()) {
      faults_.add({}, "no adapter with a host name is connected to a switch: nothing to place on");
      return t;
    }
    name_switches();
    make_leaves(t);
    while (climb(t)) {}
    join_roots(t);
    report_idle_switches();
    return t;
  }

 private:
  struct Tier {
    std::size_t domain{};  // index in TopologyText.domains
    std::set<std::string> switches;
  };

  // The text between the first pair of quotes after `from`; moves `from` behind it.
  static std::string quoted(std::string_view line, std::size_t& from) {
    const auto open = line.find('"', from);
    if (open == std::string_view::npos) return {};
    const auto close = line.find('"', open + 1);
    if (close == std::string_view::npos) return {};
    from = close + 1;
    return std::string(line.substr(open + 1, close - open - 1));
  }

  static bool is_id(std::string_view id) {
    return id.size() > 2 && id.size() < 64 && id[1] == '-' && (id[0] == 'S' || id[0] == 'H' || id[0] == 'R') &&
           std::all_of(id.begin() + 2, id.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.'; });
  }

  void read_line(std::string_view line, FileMark mark) {
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.front())) != 0) line.remove_prefix(1);
    if (line.empty() || line.front() == '#') return;
    const auto hash = std::min(line.find('#'), line.size());
    const bool is_switch = line.rfind("Switch", 0) == 0 && line.size() > 6 && std::isspace(static_cast<unsigned char>(line[6])) != 0;
    const bool is_adapter =
        (line.rfind("Ca", 0) == 0 || line.rfind("Rt", 0) == 0) && line.size() > 2 && std::isspace(static_cast<unsigned char>(line[2])) != 0;
    if (is_switch || is_adapter) {
      std::size_t at = 0;
      const auto id = quoted(line.substr(0, hash), at);
      if (!is_id(id)) {
        faults_.add(mark, "the device has no id such as \"S-0002c90200417670\"", {}, std::string(line.substr(0, 80)));
        current_.clear();
        return;
      }
      std::size_t after = hash;
      current_ = id;
      auto& d = device(id, mark);
      d.is_switch = is_switch;
      d.description = quoted(line, after);
      d.mark = mark;
      return;
    }
    if (line.front() == '[') read_port(line, hash, mark);
  }

  void read_port(std::string_view line, std::size_t hash, FileMark mark) {
    std::size_t at = 0;
    const auto peer = quoted(line.substr(0, hash), at);
    if (!is_id(peer)) {
      faults_.add(mark, "the port names no device at its other end", {}, std::string(line.substr(0, 80)));
      return;
    }
    if (current_.empty()) {
      faults_.add(mark, "a port stands before any device");
      return;
    }
    const auto from = current_;
    device(from, mark).peers.insert(peer);
    auto& d = device(peer, mark);
    d.peers.insert(from);
    if (const auto speed = speed_of(line.substr(hash)); !speed.empty()) devices_.at(from).speed_to[peer] = d.speed_to[from] = speed;
    // In a switch's section the remark is the peer's description; an adapter's own section, if there is one, says it again.
    std::size_t after = hash;
    if (d.description.empty() && devices_.at(from).is_switch) d.description = quoted(line, after);
  }

  Device& device(const std::string& id, FileMark mark) {
    const auto [found, fresh] = devices_.emplace(id, Device{});
    if (fresh) {
      found->second.mark = mark;
      found->second.is_switch = id[0] == 'S';
    }
    return found->second;
  }

  void sort_adapters() {
    std::vector<std::string> generic, aggregation;
    std::set<std::string> unconnected;
    std::map<std::string, std::size_t> unnamed;
    for (const auto& [id, d] : devices_) {
      if (d.is_switch) continue;
      if (is_aggregation_node(d.description)) {
        aggregation.push_back(id);
        continue;
      }
      const auto host = host_of(d.description);
      if (host.empty()) {
        generic.push_back(id);
        continue;
      }
      if (is_default_name(host)) {
        ++unnamed[host];
        continue;
      }
      bool connected = false;
      for (const auto& p : d.peers)
        if (devices_.at(p).is_switch) {
          connected = true;
          host_leaves_[host].insert(p);
        }
      if (!connected) unconnected.insert(host);
      host_mark_.emplace(host, d.mark);
    }
    for (const auto& [host, leaves] : host_leaves_) unconnected.erase(host);
    if (host_leaves_.empty() && unconnected.empty()) use_ids_as_names(generic);
    if (!generic.empty())
      report_.note({}, fmt::format("{} adapters have the vendor's description instead of a host name; left out", generic.size()));
    if (!aggregation.empty()) report_.note({}, fmt::format("{} aggregation nodes of switches; left out", aggregation.size()));
    for (const auto& [host, count] : unnamed)
      report_.note({}, fmt::format("{} adapters are on hosts that are called {}; left out", count, host));
    if (!unconnected.empty())
      report_.note({}, fmt::format("hosts without a cable to a switch, left out: {}",
                                   base::fold_hostlist({unconnected.begin(), unconnected.end()})));
  }

  // A fabric in which no adapter has been told its host: the adapters' ids are all there is.
  void use_ids_as_names(std::vector<std::string>& generic) {
    std::vector<std::string> left;
    for (const auto& id : generic) {
      const auto& d = devices_.at(id);
      for (const auto& p : d.peers)
        if (devices_.at(p).is_switch) host_leaves_[id].insert(p);
      if (host_leaves_.count(id) == 0) left.push_back(id);
      else host_mark_.emplace(id, d.mark);
    }
    if (!host_leaves_.empty())
      report_.note({}, fmt::format("no adapter has a host name: {} of them are known by their ids", host_leaves_.size()));
    generic = std::move(left);
  }

  void name_switches() {
    std::map<std::string, int> uses;
    for (const auto& [id, d] : devices_)
      if (d.is_switch) ++uses[switch_name_of(d.description)];
    for (const auto& [id, d] : devices_) {
      if (!d.is_switch) continue;
      const auto name = switch_name_of(d.description);
      switch_name_[id] = name.empty() || uses[name] > 1 ? id : name;
    }
  }

  std::string domain_name(const std::set<std::string>& switches) {
    std::vector<std::string> names;
    for (const auto& s : switches) names.push_back(switch_name_[s]);
    auto name = joined_domain_name(std::move(names));
    while (!taken_.insert(name).second) name += '+';
    return name;
  }

  // What most cables have that go down from these switches, to adapters or to switches below; empty: nobody says.
  std::string speed_below(const std::set<std::string>& switches) const {
    std::map<std::string, std::size_t> count;
    for (const auto& s : switches)
      for (const auto& [peer, speed] : devices_.at(s).speed_to)
        if (!devices_.at(peer).is_switch || (used_.count(peer) != 0 && switches.count(peer) == 0)) ++count[speed];
    const auto most = std::max_element(count.begin(), count.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == count.end() ? std::string{} : most->first;
  }

  using Groups = std::map<std::set<std::string>, std::vector<std::string>>;

  // On rails (three leaves or more), a host on more than half of a domain's leaves has lost or never named an adapter: it
  // belongs there. One on half of them or fewer manages the fabric or serves files beside the rails: no place for jobs.
  void settle_partial_hosts(Groups& groups) {
    if (groups.size() > 4096) return;  // no rails look like that, and every pair would be compared
    std::vector<std::string> beside;
    for (auto g = groups.begin(); g != groups.end();) {
      const auto whole = std::find_if(groups.begin(), groups.end(), [&](const auto& other) {
        return other.first.size() >= 3 && other.first.size() > g->first.size() &&
               std::includes(other.first.begin(), other.first.end(), g->first.begin(), g->first.end());
      });
      if (whole == groups.end()) {
        ++g;
        continue;
      }
      auto& to = 2 * g->first.size() > whole->first.size() ? whole->second : beside;
      to.insert(to.end(), g->second.begin(), g->second.end());
      g = groups.erase(g);
    }
    if (!beside.empty())
      report_.note({},
                   fmt::format("hosts on half of a domain's leaf switches or fewer, left out: {}", base::fold_hostlist(std::move(beside))));
  }

  void make_leaves(TopologyText& t) {
    Groups groups;
    for (const auto& [host, leaves] : host_leaves_) groups[leaves].push_back(host);
    settle_partial_hosts(groups);
    std::size_t several = 0;
    for (auto& [leaves, hosts] : groups) {
      if (leaves.size() > 1) several += hosts.size();
      std::sort(hosts.begin(), hosts.end(), base::natural_less);
      DomainText d{domain_name(leaves), devices_.at(*leaves.begin()).mark, {}, {}, {}};
      for (const auto& h : hosts) d.nodes.push_back({h, host_mark_.at(h)});
      d.link_speed = speed_below(leaves);
      used_.insert(leaves.begin(), leaves.end());
      tier_.push_back({t.domains.size(), leaves});
      t.domains.push_back(std::move(d));
    }
    if (several != 0)
      report_.note({}, fmt::format("{} hosts are on several leaf switches each: hosts with the same leaves form one domain, {} domains "
                                   "in all",
                                   several, groups.size()));
  }

  // One tier up: domains that share a switch above them get one parent. false: no domain has a switch above.
  bool climb(TopologyText& t) {
    std::vector<std::set<std::string>> above(tier_.size());
    std::map<std::string, std::vector<std::size_t>> under;
    for (std::size_t i = 0; i < tier_.size(); ++i)
      for (const auto& s : tier_[i].switches)
        for (const auto& p : devices_.at(s).peers)
          if (devices_.at(p).is_switch && used_.count(p) == 0 && above[i].insert(p).second) under[p].push_back(i);
    if (under.empty()) return false;
    std::vector<std::size_t> group(tier_.size());
    std::iota(group.begin(), group.end(), std::size_t{0});
    const auto root_of = [&](std::size_t i) {
      while (group[i] != i) i = group[i] = group[group[i]];
      return i;
    };
    for (const auto& [s, members] : under)
      for (const auto m : members) group[root_of(m)] = root_of(members.front());
    std::map<std::size_t, Tier> parents;
    std::map<std::size_t, std::string> speeds;
    for (std::size_t i = 0; i < tier_.size(); ++i) {
      if (above[i].empty()) {
        roots_.push_back(tier_[i]);
        continue;
      }
      auto& p = parents[root_of(i)];
      p.switches.insert(above[i].begin(), above[i].end());
    }
    for (const auto& [root, p] : parents) speeds[root] = speed_below(p.switches);
    for (const auto& [root, p] : parents) used_.insert(p.switches.begin(), p.switches.end());
    const auto below = std::move(tier_);
    tier_.clear();
    for (auto& [root, p] : parents) {
      DomainText d{domain_name(p.switches), devices_.at(*p.switches.begin()).mark, {}, {}, {}};
      for (std::size_t i = 0; i < below.size(); ++i)
        if (!above[i].empty() && root_of(i) == root) d.children.push_back({t.domains[below[i].domain].name, d.mark});
      if (p.switches.size() > 1)
        report_.note({}, fmt::format("{} switches above the same {} domains: merged into one domain {}", p.switches.size(),
                                     d.children.size(), d.name));
      d.link_speed = speeds[root];
      p.domain = t.domains.size();
      t.domains.push_back(std::move(d));
      tier_.push_back(std::move(p));
    }
    return true;
  }

  // Which switches reach each other at all.
  std::map<std::string, std::size_t> components() const {
    std::map<std::string, std::size_t> component;
    std::size_t count = 0;
    for (const auto& [id, d] : devices_) {
      if (!d.is_switch || component.count(id) != 0) continue;
      std::vector<std::string> open{id};
      component[id] = count;
      while (!open.empty()) {
        const auto at = open.back();
        open.pop_back();
        for (const auto& p : devices_.at(at).peers)
          if (devices_.at(p).is_switch && component.emplace(p, count).second) open.push_back(p);
      }
      ++count;
    }
    return component;
  }

  void join_roots(TopologyText& t) {
    roots_.insert(roots_.end(), tier_.begin(), tier_.end());
    const auto component = components();
    std::map<std::size_t, std::vector<const Tier*>> by_component;
    for (const auto& r : roots_) by_component[component.at(*r.switches.begin())].push_back(&r);
    for (const auto& [number, roots] : by_component) {
      if (roots.size() < 2) continue;
      std::string name = by_component.size() == 1 ? "fabric" : fmt::format("fabric{}", number + 1);
      while (!taken_.insert(name).second) name += '+';
      DomainText d{name, {}, {}, {}, {}};
      for (const auto* r : roots) d.children.push_back({t.domains[r->domain].name, {}});
      t.domains.push_back(std::move(d));
    }
    t.joined = by_component.size() < 2;
  }

  void report_idle_switches() {
    std::vector<std::string> idle;
    for (const auto& [id, d] : devices_)
      if (d.is_switch && used_.count(id) == 0) idle.push_back(switch_name_[id]);
    if (!idle.empty()) report_.note({}, fmt::format("switches that no host is below, left out: {}", base::fold_hostlist(std::move(idle))));
  }

  ImportReport& report_;
  Faults& faults_;
  std::map<std::string, Device> devices_;  // by id
  std::string current_;
  std::map<std::string, std::set<std::string>> host_leaves_;
  std::map<std::string, FileMark> host_mark_;
  std::map<std::string, std::string> switch_name_;
  std::set<std::string> used_, taken_;
  std::vector<Tier> tier_, roots_;
};

}  // namespace

TopologyFile read_ibnetdiscover(std::string_view text, Faults& faults) {
  TopologyFile file;
  Discovery discovery(file.report, faults);
  discovery.read(text);
  if (faults.empty()) file.topologies.push_back(discovery.build());
  return file;
}

}  // namespace sy::wire
