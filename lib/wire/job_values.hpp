// What a job's view computes from the job: counts asked or held, texts, times. One small function a field.
// Not JSON: job_fields.cpp writes these.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/state.hpp"
#include "sched/pass.hpp"

namespace sy::wire {

// Held where the job has or had an allocation, otherwise as asked (the minimum).
std::int64_t job_node_count(const model::Job&);
std::int64_t job_cpu_count(const model::Job&);
std::int64_t job_task_count(const model::Job&);
base::Mebibytes job_memory(const model::Job&);

std::string job_partition(const model::Job&, const model::State&);   // the one it runs in, or all asked, comma-joined
// Duration::max(): unlimited.
base::Duration job_time_limit(const model::Job&, const model::State&);
bool was_requeued(const model::Job&);                                // this attempt ended so that the job waits again: Slurm's REQUEUED
base::Duration job_elapsed(const model::Job&, base::Time now);       // suspensions left out
std::string job_gres_text(const model::Job&);                        // as asked: "gpu:a100:2"
std::string job_tres(const model::Job&);                             // "cpu=4,mem=8G,node=2,billing=4,gres/gpu=2"

// Slurm's word for why a job waits or how it ended, and a sentence about the same.
std::string_view job_reason(const model::Job&, const sched::Forecast*, base::Time now);
std::string job_reason_text(const model::Job&, const sched::Forecast*, base::Time now);
// What stands in the way where no pass has looked at the job yet.
model::Verdict waiting_verdict(const model::Job&, const sched::Forecast*, base::Time now);

enum class Stream : unsigned char { in, out, err };
std::string job_stream_path(const model::Job&, const model::State&, Stream);  // patterns expanded, absolute

}  // namespace sy::wire
