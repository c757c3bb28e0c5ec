// A store in a folder of its own, and a state that changes by hand-made facts: for tests of the store alone.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "daemon/store/sqlite_store.hpp"
#include "support/catch.hpp"

namespace sy::test {

class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "switchyard-store-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());   // mode 0700
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path() const { return path_; }
  std::string file(const std::string& name = "switchyard.db") const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline std::unique_ptr<daemon::Store> open_store(const Folder& folder) { return daemon::open_sqlite_store({.path = folder.file()}); }

template <class F>
std::string failure_of(F&& act) {
  try {
    act();
  } catch (const daemon::StoreFailure& failure) { return failure.what(); }
  return {};
}

// Makes batches as the controller does, from facts given by the test.
struct Story {
  model::State state;
  base::Time now{base::time_from_seconds(1'000'000)};

  daemon::Batch happens(std::vector<core::Fact> facts) {
    std::vector<core::Event> events;
    for (auto& fact : facts) {
      state.sequence = base::Sequence{state.sequence.value + 1};
      events.push_back({state.sequence, now, "uid 1000 (ann)", std::move(fact)});
    }
    return daemon::make_batch(state, events);
  }

  model::Job& new_job(const std::string& name = "job") {
    auto spec = std::make_shared<model::JobSpec>();
    spec->name = name;
    spec->work_dir = "/home/ann";
    model::Job job;
    job.id = state.next_job_id;
    job.spec = spec;
    job.uid = base::Uid{1000};
    job.user = "ann";
    job.group = "users";
    job.submitted = job.eligible = now;
    state.next_job_id = base::JobId{job.id.value + 1};
    state.waiting.insert(job.id);
    return state.jobs[job.id] = job;
  }
  daemon::Batch submit(const std::string& name = "job", const std::string& script = {}) {
    auto& job = new_job(name);
    if (!script.empty()) job.script_digest = *base::Digest::from_text(daemon::blob_digest(script));
    daemon::Batch batch = happens({core::JobSubmitted{job}});
    if (!script.empty()) batch.blobs.push_back({job.script_digest.text(), script});
    return batch;
  }
  daemon::Batch forget(base::JobId id) {
    state.jobs.erase(id);
    state.waiting.erase(id);
    state.ended_order.clear();
    return happens({core::JobForgotten{id}});
  }
  // The job runs on the node and ends.
  daemon::Batch end(base::JobId id, model::Outcome outcome, std::uint32_t node = 0) {
    auto& job = state.jobs.at(id);
    model::Attempt attempt;
    attempt.number = job.last_attempt = base::AttemptNumber{job.last_attempt.value + 1};
    attempt.partition = "batch";
    attempt.started = now;
    model::NodeGrant grant;
    grant.node = base::NodeIndex{node};
    grant.phase = model::NodePhase::clear;
    attempt.nodes.push_back(grant);
    job.attempt = attempt;
    job.state = model::JobState::ended;
    job.outcome = outcome;
    job.ended = now;
    state.waiting.erase(id);
    state.ended_order.insert({now, id});
    return happens({core::JobEnded{id, outcome, now, {}}});
  }
  model::Node& new_node(const std::string& name) {
    model::Node node;
    node.index = base::NodeIndex{static_cast<std::uint32_t>(state.nodes.size())};
    node.name = name;
    state.node_by_name[name] = node.index;
    state.nodes.push_back(node);
    return state.nodes.back();
  }
};

}  // namespace sy::test
