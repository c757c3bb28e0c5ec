#include "core/event.hpp"

namespace sy::core {

namespace {
// In the order of Fact's alternatives.
constexpr std::string_view names[] = {
    "job_submitted",      "job_updated",   "job_held",        "job_released",         "job_started",  "node_accepted",     "script_started",
    "time_limit_changed", "end_asked",     "script_ended",    "node_cleared",         "job_lost",     "job_found",         "attempt_ended",
    "job_requeued",       "job_ended",     "job_forgotten",   "signal_sent",          "configured",   "topology_imported", "epoch_began",
    "enrol_token_issued", "node_enrolled", "node_registered", "node_contact_changed", "node_drained", "node_resumed",      "node_downed",
    "node_fenced",        "node_removed",  "plan_applied"};
static_assert(std::size(names) == std::variant_size_v<Fact>, "every fact has its name");
}  // namespace

std::string_view fact_name(const Fact& fact) { return names[fact.index()]; }

}  // namespace sy::core
