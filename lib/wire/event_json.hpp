// Facts as JSON text and back: the rows of the events table, and the items of streams. Versioned: this release reads its
// own version and the one before. Not who may see an event: the stream authorises each.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "core/event.hpp"

namespace sy::wire {

// Rises when the text of any fact changes in a way that an older reader would take wrongly. A member added with a default that
// means "as before" does not count.
inline constexpr int event_version = 1;

// Stable: "job_submitted", …
std::string_view fact_kind(const core::Fact&);

std::string fact_text(const core::Fact&);
base::Result<core::Fact> fact_from_text(std::string_view kind, int version, std::string_view text);

// {"sequence":n,"at_us":n,"by":"…","kind":"job_started","version":1,"fact":{…}}
void append_event(std::string& out, const core::Event&);

}  // namespace sy::wire
