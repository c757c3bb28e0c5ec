// Runs tests/scenario/*.txt on the pure core with simulated agents and compares what happens with what the file says below
// its line of dashes. REWRITE=1 writes what happened into the file instead.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/features.hpp"
#include "base/hostlist.hpp"
#include "base/size_text.hpp"
#include "base/time_text.hpp"
#include "support/catch.hpp"
#include "support/cluster.hpp"

using namespace sy::test;

namespace {

using Words = std::vector<std::string>;
using Options = std::map<std::string, std::string>;

struct Line {
  Duration at{};
  Words words;
};

Words split(const std::string& text, char by = ' ') {
  Words out;
  std::istringstream in(text);
  for (std::string w; std::getline(in, w, by);)
    if (!w.empty()) out.push_back(w);
  return out;
}

Options options(const Words& words, std::size_t from) {
  Options out;
  for (std::size_t i = from; i < words.size(); ++i) {
    const auto eq = words[i].find('=');
    out[words[i].substr(0, eq)] = eq == std::string::npos ? "" : words[i].substr(eq + 1);
  }
  return out;
}

// "0:10" hours and minutes; "1h", "30m", "20s" as in the configuration.
Duration clock_time(const std::string& text) {
  const auto colon = text.find(':');
  return hours{std::stoi(text.substr(0, colon))} + minutes{std::stoi(text.substr(colon + 1))};
}
Duration span(const std::string& text) { return parse_span(text).value(); }

std::uint32_t number(const Options& o, const std::string& key, std::uint32_t otherwise) {
  auto it = o.find(key);
  return it == o.end() ? otherwise : static_cast<std::uint32_t>(std::stoul(it->second));
}

class Story {
 public:
  explicit Story(const std::vector<Line>& lines) : lines_(lines) {}

  std::string tell() {
    std::stable_sort(lines_.begin(), lines_.end(), [](const Line& a, const Line& b) { return a.at < b.at; });
    std::size_t next = 0;
    const Duration end_of_story = hours{24 * 14};
    for (Duration t{}; t <= end_of_story; t = next_time(next, t)) {
      at_ = t;
      if (cluster_) cluster_->now = begin_ + t;
      for (; next < lines_.size() && lines_[next].at <= t; ++next) obey(lines_[next].words);
      if (cluster_) turn();
      if (next == lines_.size() && runtimes_left() == 0 && !waits_for_time()) break;
    }
    return out_;
  }

 private:
  void obey(const Words& w) {
    const std::string& verb = w.front();
    if (verb == "cluster") return make_cluster(w);
    if (verb == "node") return change_node(w);
    if (verb == "partition") return add_partition(w);
    if (verb == "settings") return change_settings(w);
    if (verb == "submit") return submit(w);
    if (verb == "cancel") return order(CancelJob{job(w.at(1))});
    if (verb == "hold") return order(HoldJob{job(w.at(1))});
    if (verb == "release") return order(ReleaseJob{job(w.at(1))});
    if (verb == "requeue") return order(RequeueJob{job(w.at(1)), false});
    if (verb == "drain") return order(DrainNode{c().index(w.at(1)), w.size() > 2 ? w[2] : "test"});
    if (verb == "resume") return order(ResumeNode{c().index(w.at(1))});
    if (verb == "down") return order(DownNode{c().index(w.at(1)), "test"});
    if (verb == "fence") return order(FenceNode{c().index(w.at(1)), ""});
    if (verb == "silent") return c().silent(w.at(1));
    if (verb == "heard") return c().heard(w.at(1));
    if (verb == "register") {
      c().register_node(w.at(1));
      return;
    }
    if (verb == "reboot") {
      c().reboot(w.at(1));
      c().register_node(w.at(1));
      return;
    }
    if (verb == "lose-spool") {
      c().lose_spool(w.at(1));
      c().register_node(w.at(1));
      return;
    }
    if (verb == "refuse") return refuse(w);
    if (verb == "delete-partition") return delete_partition(w.at(1));
    throw std::logic_error("unknown word in a scenario: " + verb);
  }

  void make_cluster(const Words& w) {
    const Options o = options(w, 3);
    cluster_ = std::make_unique<Cluster>(static_cast<std::uint32_t>(std::stoul(w.at(1))), number(o, "cpus", 4), number(o, "mem", 8000),
                                         number(o, "gpus", 0));
    begin_ = cluster_->now;
    seen_ = cluster_->history.size();
  }
  void change_node(const Words& w) {
    const Options o = options(w, 2);
    for (auto& d : c().configuration.nodes)
      if (d.name == w.at(1)) {
        if (o.contains("features")) d.features = split(o.at("features"), ',');
        d.weight = number(o, "weight", d.weight);
        d.shape->cpus = number(o, "cpus", d.shape->cpus);
      }
    c().configure();
    c().register_node(w.at(1));
  }
  void add_partition(const Words& w) {
    const Options o = options(w, 2);
    PartitionDeclaration p;
    p.settings.name = w.at(1);
    p.node_names = o.contains("nodes") ? expand_hostlist(o.at("nodes")).value() : Words{"ALL"};
    p.settings.priority_tier = static_cast<std::int32_t>(number(o, "tier", 1));
    if (o.contains("max_time")) p.settings.max_time = span(o.at("max_time"));
    if (o.contains("max_nodes")) p.settings.max_nodes = number(o, "max_nodes", 1);
    c().configuration.partitions.push_back(p);
    c().configure();
  }
  void delete_partition(const std::string& name) {
    std::erase_if(c().configuration.partitions, [&](const auto& p) { return p.settings.name == name; });
    c().configure();
  }
  void change_settings(const Words& w) {
    const Options o = options(w, 1);
    auto& s = c().configuration.settings;
    if (o.contains("assume_dead")) s.on_lost = Settings::OnLost::assume_dead;
    if (o.contains("fence_program")) s.fence_program = "/sbin/fence";
    c().configure();
  }
  void refuse(const Words& w) {
    auto& a = c().agents[w.at(1)];
    const std::string fault = w.size() > 2 ? w[2] : "nothing";
    a.refuses = fault == "node"     ? SimAgent::Refuses::as_node_fault
                : fault == "job"    ? SimAgent::Refuses::as_job_fault
                : fault == "nobody" ? SimAgent::Refuses::as_nobodys_fault
                                    : SimAgent::Refuses::nothing;
  }

  void submit(const Words& w) {
    const Options o = options(w, 2);
    Ask a;
    a.name(w.at(1));
    if (o.contains("nodes")) {
      const auto range = split(o.at("nodes"), '-');
      a.nodes(static_cast<std::uint32_t>(std::stoul(range.front())), static_cast<std::uint32_t>(std::stoul(range.back())));
    }
    if (o.contains("tasks")) a.tasks(number(o, "tasks", 1));
    if (o.contains("tasks_per_node")) a.tasks_per_node(number(o, "tasks_per_node", 1));
    if (o.contains("cpus")) a.cpus(number(o, "cpus", 1));
    if (o.contains("mem")) a.memory(number(o, "mem", 0));
    if (o.contains("gpus")) a.gres("gpu", number(o, "gpus", 1));
    if (o.contains("features")) a.features(o.at("features"));
    if (o.contains("on")) a.on(o.at("on"));
    if (o.contains("not_on")) a.not_on(o.at("not_on"));
    if (o.contains("exclusive")) a.exclusive();
    if (o.contains("contiguous")) a.contiguous();
    if (o.contains("no_requeue")) a.no_requeue();
    if (o.contains("nice")) a.nice(static_cast<std::int32_t>(number(o, "nice", 0)));
    if (o.contains("partition"))
      for (const auto& p : split(o.at("partition"), ',')) a.partition(p);
    a.time(o.contains("walltime") ? span(o.at("walltime")) : Duration{hours{1}});
    const auto r = c().run(SubmitJob{std::make_shared<const JobSpec>(a.spec), {}, {}, false}, user());
    if (!r.reply) return say("refused", w.at(1), to_text(r.reply.error()));
    names_[r.reply->job] = w.at(1);
    runtime_[r.reply->job] = o.contains("runtime") ? span(o.at("runtime")) : *a.spec.time_limit;
    exit_[r.reply->job] = static_cast<int>(number(o, "exit", 0));
  }

  void order(Action action) {
    const auto r = c().run(std::move(action), admin());
    if (!r.reply) say("refused", "", to_text(r.reply.error()));
  }

  // One instant: ends that are due, a pass, launches and reports, and what the pass says of those that wait.
  void turn() {
    c().run(AdvanceTime{});
    c().deliver();
    finish_due();
    tell_events();
    c().pass();
    c().deliver();
    tell_events();
    tell_waits();
  }
  void finish_due() {
    for (const auto& [id, runtime] : runtime_) {
      const Job* j = c().state.find_job(id);
      if (j == nullptr || j->state != JobState::running || *j->attempt->started + runtime > c().now) continue;
      ExitRecord exit;
      exit.code = exit_[id];
      c().finish(id, exit);
    }
  }

  void tell_events() {
    for (; seen_ < c().history.size(); ++seen_) {
      const Fact& f = c().history[seen_].fact;
      if (const auto* s = std::get_if<JobStarted>(&f)) {
        std::vector<std::string> nodes;
        for (const auto& g : s->attempt.nodes) nodes.push_back(c().state.nodes[g.node.value].name);
        const auto n = s->attempt.number.value;
        say("start", names_[s->job], fold_hostlist_in_order(nodes) + (n > 1 ? fmt::format(" attempt {}", n) : ""));
        waits_.erase(s->job);
      }
      if (const auto* e = std::get_if<JobEnded>(&f))
        say("end", names_[e->job], std::string(outcome_name(e->outcome)) + (e->reason.empty() ? "" : ": " + e->reason));
      if (const auto* e = std::get_if<JobRequeued>(&f)) say("requeue", names_[e->job], e->why);
      if (const auto* e = std::get_if<JobLost>(&f)) say("lost", names_[e->job], e->why);
      if (const auto* e = std::get_if<JobFound>(&f)) say("found", names_[e->job], "");
      if (const auto* e = std::get_if<NodeDrained>(&f)) say("drain", c().state.nodes[e->node.value].name, e->reason);
    }
  }
  void tell_waits() {
    const auto plan = c().plan();
    for (auto id : c().state.waiting) {
      const auto* forecast = plan.forecast_of(id);
      if (forecast == nullptr) continue;
      const std::string text = fmt::format("{}: {}", reason_name(forecast->why->reason), to_text(forecast->verdict()));
      if (waits_[id] != text) say("wait", names_[id], text);
      waits_[id] = text;
    }
  }

  void say(const std::string& what, const std::string& who, const std::string& rest) {
    const auto m = std::chrono::duration_cast<minutes>(at_).count();
    std::string line = fmt::format("{}:{:02} {:<7} {:<3} {}", m / 60, m % 60, what, who, rest);
    line.erase(line.find_last_not_of(' ') + 1);
    out_ += line + "\n";
  }

  // The next line, end of a job or end of a pause, on whole minutes.
  Duration next_time(std::size_t next, Duration t) {
    Duration best = hours{24 * 365};
    const auto offer = [&](Duration d) { best = d > t ? std::min(best, d) : best; };
    if (next < lines_.size()) offer(lines_[next].at);
    if (cluster_) {
      for (const auto& [id, runtime] : runtime_)
        if (const Job* j = c().state.find_job(id); j != nullptr && j->state == JobState::running)
          offer(*j->attempt->started + runtime - begin_);
      for (auto id : c().state.waiting) offer(c().job(id).eligible - begin_);
    }
    return std::chrono::ceil<minutes>(best);
  }
  std::size_t runtimes_left() const {
    std::size_t n = 0;
    for (auto id : cluster_->state.live) n += cluster_->job(id).state == JobState::running ? 1 : 0;
    return n;
  }
  bool waits_for_time() const {
    return std::any_of(cluster_->state.waiting.begin(), cluster_->state.waiting.end(),
                       [&](JobId id) { return cluster_->job(id).eligible > cluster_->now; });
  }
  JobId job(const std::string& name) const {
    for (const auto& [id, n] : names_)
      if (n == name) return id;
    throw std::logic_error("no job of this name: " + name);
  }
  Cluster& c() { return *cluster_; }

  std::vector<Line> lines_;
  std::unique_ptr<Cluster> cluster_;
  Time begin_;
  Duration at_{};
  std::size_t seen_{};
  std::string out_;
  std::map<JobId, std::string> names_, waits_;
  std::map<JobId, Duration> runtime_;
  std::map<JobId, int> exit_;
};

struct File {
  std::string story, expected;
  std::vector<Line> lines;
};

File read(const std::filesystem::path& path) {
  std::ifstream in(path);
  File f;
  bool below = false;
  for (std::string text; std::getline(in, text);) {
    if (text.starts_with("----")) {
      below = true;
      continue;
    }
    (below ? f.expected : f.story) += text + "\n";
    if (below || text.empty() || text.front() == '#') continue;
    Line line;
    line.words = split(text);
    if (line.words.front() == "at") {
      line.at = clock_time(line.words.at(1));
      line.words.erase(line.words.begin(), line.words.begin() + 2);
    }
    f.lines.push_back(std::move(line));
  }
  return f;
}

}  // namespace

TEST_CASE("every scenario goes as its file says") {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(SY_SCENARIO_DIR))
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  REQUIRE(paths.size() >= 8);
  for (const auto& path : paths) {
    INFO(path.filename().string());
    const File f = read(path);
    const std::string happened = Story(f.lines).tell();
    if (std::getenv("REWRITE") != nullptr) {
      std::ofstream(path) << f.story << "----\n" << happened;
      continue;
    }
    CHECK(happened == f.expected);
  }
}
