#include "daemon/store/write_batch.hpp"

#include <unordered_map>

#include "base/assert.hpp"
#include "wire/enum_names.hpp"
#include "wire/event_json.hpp"
#include "wire/job_spec_json.hpp"
#include "wire/state_json.hpp"

namespace sy::daemon {

namespace {

using namespace sy::model;

std::int64_t number(std::uint64_t value) { return static_cast<std::int64_t>(value); }

void write_counters(Connection& db, const Batch& batch) {
  db.prepared(
        "INSERT INTO cluster (one, sequence, next_job_id, epoch, policy_version) VALUES (1, ?1, ?2, ?3, ?4) "
        "ON CONFLICT (one) DO UPDATE SET sequence = ?1, next_job_id = ?2, epoch = ?3, policy_version = ?4")
      .bind(number(batch.sequence.value))
      .bind(number(batch.next_job_id.value))
      .bind(number(batch.epoch))
      .bind(number(batch.policy_version))
      .run();
  if (!batch.settings) return;
  const std::string settings = wire::json_text(*batch.settings);
  db.prepared("UPDATE cluster SET settings = ?").bind(settings).run();
}

void write_cluster(Connection& db, const Batch& batch) {
  for (const auto& [index, node] : batch.nodes) {
    const std::string text = wire::json_text(node);
    db.prepared("INSERT INTO nodes (id, name, node) VALUES (?1, ?2, ?3) ON CONFLICT (id) DO UPDATE SET name = ?2, node = ?3")
        .bind(std::int64_t{index.value})
        .bind(node.name)
        .bind(text)
        .run();
  }
  if (batch.partitions) {
    db.prepared("DELETE FROM partitions").run();
    std::int64_t position = 0;
    for (const auto& partition : *batch.partitions) {
      const std::string text = wire::json_text(partition);
      db.prepared("INSERT INTO partitions (position, partition) VALUES (?, ?)").bind(position++).bind(text).run();
    }
  }
  for (const auto& [name, topology] : batch.topologies) {
    const std::string text = wire::json_text(topology);
    db.prepared("INSERT INTO topologies (name, topology) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET topology = ?2")
        .bind(name)
        .bind(text)
        .run();
  }
  if (batch.enrol_tokens) {
    db.prepared("DELETE FROM enrol_tokens").run();
    std::int64_t position = 0;
    for (const auto& token : *batch.enrol_tokens) {
      const std::string text = wire::json_text(token);
      db.prepared("INSERT INTO enrol_tokens (position, token) VALUES (?, ?)").bind(position++).bind(text).run();
    }
  }
}

// The columns that follow the id, in the order of both statements below.
void bind_job(Statement& statement, const Job& job, const std::optional<std::string>& attempt) {
  statement.bind(number(job.id.value))
      .bind(std::int64_t{job.uid.value})
      .bind(std::int64_t{job.gid.value})
      .bind(job.user)
      .bind(job.group)
      .bind(base::micros(job.submitted))
      .bind(base::micros(job.eligible))
      .bind(job.script_digest.text())
      .bind(job.env_digest.text())
      .bind(std::int64_t{job.held_by_user})
      .bind(std::int64_t{job.held_by_admin})
      .bind(std::int64_t{job.launch_failures})
      .bind(std::int64_t{job.restarts})
      .bind(wire::enum_name(job.state))
      .bind(wire::enum_name(job.lost_from))
      .bind(std::int64_t{job.last_attempt.value})
      .bind(wire::enum_name(job.outcome));
  if (job.ended) statement.bind(base::micros(*job.ended));
  else statement.bind_null();
  statement.bind(job.end_reason);
  if (attempt) statement.bind(*attempt);
  else statement.bind_null();
}

void write_job(Connection& db, const Job& job, bool with_spec) {
  std::optional<std::string> attempt;
  if (job.attempt) attempt = wire::json_text(*job.attempt);
  if (with_spec) {
    const std::string spec = wire::job_spec_text(*job.spec);
    auto& insert = db.prepared(
        "INSERT OR REPLACE INTO jobs (id, uid, gid, user, user_group, submitted_us, eligible_us, script_digest, env_digest, "
        "held_by_user, held_by_admin, launch_failures, restarts, state, lost_from, last_attempt, outcome, ended_us, end_reason, "
        "attempt, spec) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    bind_job(insert, job, attempt);
    insert.bind(spec).run();
    return;
  }
  auto& update = db.prepared(
      "UPDATE jobs SET uid = ?2, gid = ?3, user = ?4, user_group = ?5, submitted_us = ?6, eligible_us = ?7, script_digest = ?8, "
      "env_digest = ?9, held_by_user = ?10, held_by_admin = ?11, launch_failures = ?12, restarts = ?13, state = ?14, "
      "lost_from = ?15, last_attempt = ?16, outcome = ?17, ended_us = ?18, end_reason = ?19, attempt = ?20 WHERE id = ?1");
  bind_job(update, job, attempt);
  update.run();
  ASSERT(db.changes() == 1, "a job that was not submitted in this batch has a row");
}

// By digest: how many jobs more (or fewer) name the blob after this batch.
using BlobUses = std::unordered_map<std::string, std::int64_t>;

void write_jobs(Connection& db, const Batch& batch, BlobUses& uses) {
  const auto count = [&](std::string_view digest, std::int64_t change) {
    if (!digest.empty()) uses[std::string{digest}] += change;
  };
  for (const auto& [id, row] : batch.jobs) {
    if (row.job) {
      write_job(db, *row.job, row.spec_changed);
      if (row.submitted) count(row.job->script_digest.text(), 1), count(row.job->env_digest.text(), 1);
    } else if (!row.submitted) {
      auto& gone = db.prepared("DELETE FROM jobs WHERE id = ? RETURNING script_digest, env_digest");
      gone.bind(number(id.value));
      while (gone.row()) count(gone.text(0), -1), count(gone.text(1), -1);
    }
  }
}

void write_blobs(Connection& db, const Batch& batch, const BlobUses& uses) {
  std::unordered_map<std::string_view, std::string_view> bytes;
  for (const auto& blob : batch.blobs) bytes.emplace(blob.digest, blob.bytes);
  for (const auto& [digest, change] : uses) {
    if (change == 0) continue;
    if (change < 0) {
      // The check (uses > 0) forbids zero, so what nobody names any more goes first.
      db.prepared("DELETE FROM blobs WHERE digest = ? AND uses <= ?").bind(digest).bind(-change).run();
      if (db.changes() == 0) db.prepared("UPDATE blobs SET uses = uses - ? WHERE digest = ?").bind(-change).bind(digest).run();
      continue;
    }
    db.prepared("UPDATE blobs SET uses = uses + ? WHERE digest = ?").bind(change).bind(digest).run();
    const auto it = bytes.find(digest);
    if (db.changes() == 0 && it != bytes.end())
      db.prepared("INSERT INTO blobs (digest, uses, bytes) VALUES (?, ?, ?)").bind(digest).bind(change).bind_blob(it->second).run();
  }
}

void write_events(Connection& db, const Batch& batch) {
  for (const auto& event : batch.events) {
    const std::string fact = wire::fact_text(event.fact);
    db.prepared("INSERT INTO events (sequence, at_us, who, kind, version, fact) VALUES (?, ?, ?, ?, ?, ?)")
        .bind(number(event.sequence.value))
        .bind(base::micros(event.at))
        .bind(event.by)
        .bind(wire::fact_kind(event.fact))
        .bind(std::int64_t{wire::event_version})
        .bind(fact)
        .run();
  }
}

void write_accounting(Connection& db, const Batch& batch) {
  for (const auto& row : batch.ended) {
    const Job& job = row.at_end;
    const std::string record = wire::json_text(job);
    const auto& asked = job.spec->partitions;
    const std::string& partition = job.attempt ? job.attempt->partition : asked.empty() ? std::string{} : asked.front();
    db.prepared(
          "INSERT INTO accounting (job, attempt, user, account, partition, name, outcome, submitted_us, ended_us, record) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .bind(number(row.job.value))
        .bind(std::int64_t{row.attempt.value})
        .bind(job.user)
        .bind(job.spec->annotations->account)
        .bind(partition)
        .bind(job.spec->name)
        .bind(wire::enum_name(job.outcome))
        .bind(base::micros(job.submitted))
        .bind(base::micros(job.ended.value_or(batch.now)))
        .bind(record)
        .run();
    if (!job.attempt) continue;
    for (const auto& grant : job.attempt->nodes)
      db.prepared("INSERT OR IGNORE INTO accounting_nodes (node, job, attempt) VALUES (?, ?, ?)")
          .bind(std::int64_t{grant.node.value})
          .bind(number(row.job.value))
          .bind(std::int64_t{row.attempt.value})
          .run();
  }
}

void write_replies(Connection& db, const Batch& batch) {
  for (const auto& reply : batch.replies)
    db.prepared(
          "INSERT OR REPLACE INTO replies (principal, route, key, request_digest, status, body, expires_us) "
          "VALUES (?, ?, ?, ?, ?, ?, ?)")
        .bind(reply.principal)
        .bind(reply.route)
        .bind(reply.key)
        .bind(reply.request_digest)
        .bind(std::int64_t{reply.status})
        .bind(reply.body)
        .bind(base::micros(reply.expires))
        .run();
}

}  // namespace

void write_batch(Connection& db, const Batch& batch) {
  if (!batch.events.empty()) {
    BlobUses uses;
    write_counters(db, batch);
    write_cluster(db, batch);
    write_jobs(db, batch, uses);
    write_blobs(db, batch, uses);
    write_events(db, batch);
    write_accounting(db, batch);
  }
  write_replies(db, batch);
}

void drop_expired(Connection& db, const Retention& keep, base::Time now, std::int64_t most) {
  // Rows of each kind are as old as their keys are low, so only the lowest are looked at.
  db.prepared(
        "DELETE FROM events WHERE sequence IN (SELECT sequence FROM (SELECT sequence, at_us FROM events ORDER BY sequence "
        "LIMIT ?) WHERE at_us < ?)")
      .bind(most)
      .bind(base::micros(now - keep.events))
      .run();
  db.prepared(
        "DELETE FROM replies WHERE id IN (SELECT id FROM (SELECT id, expires_us FROM replies ORDER BY id LIMIT ?) "
        "WHERE expires_us < ?)")
      .bind(most)
      .bind(base::micros(now))
      .run();
  if (!keep.accounting) return;
  auto& old = db.prepared(
      "DELETE FROM accounting WHERE id IN (SELECT id FROM (SELECT id, ended_us FROM accounting ORDER BY id LIMIT ?) "
      "WHERE ended_us < ?) RETURNING job, attempt, record");
  old.bind(most).bind(base::micros(now - *keep.accounting));
  while (old.row()) {
    const auto job = wire::job_from_text(old.text(2));
    if (!job || !job->attempt) continue;
    for (const auto& grant : job->attempt->nodes)
      db.prepared("DELETE FROM accounting_nodes WHERE node = ? AND job = ? AND attempt = ?")
          .bind(std::int64_t{grant.node.value})
          .bind(old.integer(0))
          .bind(old.integer(1))
          .run();
  }
}

}  // namespace sy::daemon
