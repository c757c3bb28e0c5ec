// What the store costs: commits a second at several group sizes, loading a queue with and without a long history, bytes in
// memory and on disk per waiting job, and job views per second; with the disk's own fdatasync time beside.
//   bench_store [FOLDER]        FOLDER (default: the temporary one) decides which disk is measured
// SWITCHYARD_BENCH_FULL=1: 50,000 waiting jobs and 1,000,000 rows of history instead of 10,000 and 50,000.
#include <fcntl.h>
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "daemon/store/sqlite_store.hpp"
#include "wire/job_fields.hpp"

namespace {

using namespace sy;
using Steady = std::chrono::steady_clock;

double since(Steady::time_point begin) { return std::chrono::duration<double>(Steady::now() - begin).count(); }

double fdatasync_ms(const std::string& folder) {
  const std::string path = folder + "/sync-probe";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  std::vector<double> times;
  for (int i = 0; i < 200; ++i) {
    const char page[4096] = {static_cast<char>(i)};
    if (::pwrite(fd, page, sizeof page, i * 4096L) < 0) std::perror(path.c_str());
    const auto begin = Steady::now();
    ::fdatasync(fd);
    times.push_back(since(begin) * 1000);
  }
  ::close(fd);
  ::unlink(path.c_str());
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// Submissions as the controller makes them: a 4 kB script and an 8 kB environment each, all different.
struct Submitter {
  model::State state;
  bool equal_specs{};

  void add_to(daemon::Batch& batch, bool blobs) {
    auto spec = std::make_shared<model::JobSpec>();
    const auto id = state.next_job_id;
    spec->name = equal_specs ? "train" : "train-" + std::to_string(id.value);
    spec->work_dir = "/home/ann/experiments";
    spec->std_out = "%x-%j.out";
    spec->time_limit = base::hours{4};
    spec->partitions = {"gpu"};
    auto& group = spec->groups[0];
    group.nodes = {2, 2, {}};
    group.nodes_given = true;
    group.tasks_per_node = 4;
    group.cpus_per_task = base::whole_cpus(8);
    group.memory_per_node = base::Mebibytes{64'000};
    group.gres_per_node = {{"gpu", "a100", 4}};
    model::Job job;
    job.id = id;
    job.spec = std::move(spec);
    job.uid = base::Uid{1000};
    job.gid = base::Gid{1000};
    job.user = job.group = "ann";
    job.submitted = job.eligible = base::time_from_seconds(1'700'000'000 + static_cast<std::int64_t>(id.value));
    const std::string script = "#!/bin/sh\n# " + std::to_string(id.value) + std::string(4096, 's');
    const std::string environment = std::to_string(id.value) + std::string(8192, 'e');
    job.script_digest = *base::Digest::from_text(daemon::blob_digest(script));
    job.env_digest = *base::Digest::from_text(daemon::blob_digest(environment));
    if (blobs) {
      batch.blobs.push_back({job.script_digest.text(), script});
      batch.blobs.push_back({job.env_digest.text(), environment});
    }
    state.next_job_id = base::JobId{id.value + 1};
    state.jobs.emplace(id, job);
    happens(batch, core::JobSubmitted{job}, job.submitted);
  }

  // The job ends and is forgotten: one row of history.
  void finish(daemon::Batch& batch, base::JobId id) {
    auto& job = state.jobs.at(id);
    model::Attempt attempt;
    attempt.number = job.last_attempt = base::AttemptNumber{1};
    attempt.partition = "gpu";
    attempt.started = job.submitted;
    for (std::uint32_t n = 0; n < 2; ++n) {
      model::NodeGrant grant;
      grant.node = base::NodeIndex{static_cast<std::uint32_t>(id.value) % 1000 + n};
      grant.tasks = 4;
      grant.held = grant.used = {base::whole_cpus(32), base::Mebibytes{64'000}, {{"gpu", "a100", 4}}};
      grant.phase = model::NodePhase::clear;
      attempt.nodes.push_back(grant);
    }
    attempt.exit = model::ExitRecord{};
    job.attempt = attempt;
    job.state = model::JobState::ended;
    job.outcome = model::Outcome::completed;
    job.ended = job.submitted + base::hours{1};
    happens(batch, core::JobEnded{id, job.outcome, *job.ended, {}}, *job.ended);
    state.jobs.erase(id);
    happens(batch, core::JobForgotten{id}, job.submitted);
  }

  void happens(daemon::Batch& batch, core::Fact fact, base::Time at) {
    state.sequence = base::Sequence{state.sequence.value + 1};
    batch.add(state, {{state.sequence, at, "uid 1000 (ann)", std::move(fact)}});
  }
};

void measure_commits(const std::string& folder) {
  for (const int group : {1, 4, 16, 64, 256}) {
    const std::string path = folder + "/commits-" + std::to_string(group) + ".db";
    const auto store = daemon::open_sqlite_store({.path = path});
    Submitter submitter;
    const int batches = group == 1 ? 500 : std::max(20, 4000 / group);
    std::vector<double> times;
    const auto begin = Steady::now();
    for (int b = 0; b < batches; ++b) {
      daemon::Batch batch;
      for (int i = 0; i < group; ++i) submitter.add_to(batch, true);
      const auto one = Steady::now();
      store->commit(batch);
      times.push_back(since(one) * 1000);
    }
    const double seconds = since(begin);
    std::sort(times.begin(), times.end());
    std::printf("submissions in groups of %3d: %7.0f/s, a commit takes %.2f ms (median), %.2f ms (p99)\n", group, batches * group / seconds,
                times[times.size() / 2], times[times.size() * 99 / 100]);
  }
}

void measure_load(const std::string& folder, int waiting, int history, bool equal_specs) {
  const std::string path = folder + (equal_specs ? "/load-equal.db" : "/load-different.db");
  {
    const auto store = daemon::open_sqlite_store({.path = path});
    Submitter submitter;
    submitter.equal_specs = equal_specs;
    const auto begin = Steady::now();
    for (int done = 0; done < history;) {
      daemon::Batch batch;
      for (int i = 0; i < 1000 && done < history; ++i, ++done) {
        const auto id = submitter.state.next_job_id;
        submitter.add_to(batch, false);
        submitter.finish(batch, id);
      }
      store->commit(batch);
    }
    if (history > 0) std::printf("history: %d jobs submitted and ended in %.1f s\n", history, since(begin));
    for (int done = 0; done < waiting;) {
      daemon::Batch batch;
      for (int i = 0; i < 1000 && done < waiting; ++i, ++done) submitter.add_to(batch, false);
      store->commit(batch);
    }
  }
  std::printf("%s requests: the file has %.0f MB\n", equal_specs ? "equal" : "different",
              static_cast<double>(std::filesystem::file_size(path)) / 1e6);
  ::malloc_trim(0);
  const auto before = ::mallinfo2().uordblks;
  const auto begin = Steady::now();
  const auto store = daemon::open_sqlite_store({.path = path});
  const double opened = since(begin);
  const auto empty = ::mallinfo2().uordblks;
  auto state = store->load();
  std::printf("open and load, %d waiting and %d in history: %.3f s (open %.3f s)\n", waiting, history, since(begin), opened);
  const auto cache = empty - before;
  const auto all = ::mallinfo2().uordblks;
  std::printf("memory per waiting job: %.0f bytes with SQLite's page cache\n", static_cast<double>(all - before - cache) / waiting);

  const auto query = Steady::now();
  const auto rows = store->accounting({.users = {"ann"}, .limit = 1000});
  std::printf("accounting, a page of %zu: %.1f ms\n", rows.size(), since(query) * 1000);

  const auto fields = wire::parse_job_fields("id,partition,name,user,slurm_state_compact,elapsed_s,node_count,nodes,reason").value();
  std::string out;
  const auto views = Steady::now();
  for (const auto& [id, job] : state.jobs) {
    wire::append_job(out, job, state, nullptr, fields, base::time_from_seconds(1'800'000'000));
    out += ',';
  }
  const double seconds = since(views);
  std::printf("views of %zu jobs as squeue asks: %.3f s, %.0f MB/s\n", state.jobs.size(), seconds,
              static_cast<double>(out.size()) / 1e6 / seconds);
  out.clear();
  const auto full = Steady::now();
  for (const auto& [id, job] : state.jobs)
    wire::append_job(out, job, state, nullptr, wire::all_job_fields(), base::time_from_seconds(1'800'000'000));
  std::printf("views with all fields: %.0f MB/s, %zu bytes a job\n", static_cast<double>(out.size()) / 1e6 / since(full),
              out.size() / state.jobs.size());
}

}  // namespace

int main(int argc, char** argv) {
  std::string folder = (argc > 1 ? std::string{argv[1]} : std::filesystem::temp_directory_path().string()) + "/bench-store-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) {
    std::perror(folder.c_str());
    return 1;
  }
  const bool full = std::getenv("SWITCHYARD_BENCH_FULL") != nullptr;
  std::printf("fdatasync of one page here: %.3f ms (median); sizeof(Job) %zu, JobSpec %zu, Group %zu\n", fdatasync_ms(folder),
              sizeof(model::Job), sizeof(model::JobSpec), sizeof(model::Group));
  try {
    measure_commits(folder);
    const int waiting = full ? 50'000 : 10'000;
    measure_load(folder, waiting, 0, true);
    std::filesystem::remove(folder + "/load-equal.db");
    measure_load(folder, waiting, full ? 1'000'000 : 50'000, false);
  } catch (const daemon::StoreFailure& failure) { std::fprintf(stderr, "%s\n", failure.what()); }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return 0;
}
