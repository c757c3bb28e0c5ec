#include "model/job.hpp"

namespace sy::model {

bool operator==(const Job& a, const Job& b) {
  const bool same_spec = a.spec == b.spec || (a.spec && b.spec && *a.spec == *b.spec);
  return same_spec && a.id == b.id && a.uid == b.uid && a.gid == b.gid && a.user == b.user && a.group == b.group &&
         a.submitted == b.submitted && a.eligible == b.eligible && a.script_digest == b.script_digest && a.env_digest == b.env_digest &&
         a.held_by_user == b.held_by_user && a.held_by_admin == b.held_by_admin && a.launch_failures == b.launch_failures &&
         a.restarts == b.restarts && a.state == b.state && a.lost_from == b.lost_from && a.last_attempt == b.last_attempt &&
         a.attempt == b.attempt && a.outcome == b.outcome && a.ended == b.ended && a.end_reason == b.end_reason;
}

}  // namespace sy::model
