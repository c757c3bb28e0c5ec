// The comment in which an export keeps what a foreign format has no words for (name, level names, joined), so that reading
// it again gives the same topology: "# switchyard: name=fabric joined=false levels=core,rack/leaf".
// Not needed by any other program, and never required by ours.
#pragma once

#include <string>
#include <string_view>

#include "wire/topology/topology_text.hpp"

namespace sy::wire {

// The comment line, with its end. `speeds`: the format has no words for the domains' link speeds either.
std::string write_remark(const model::Topology&, bool speeds);

// Takes over what the remarks say. Remarks apply to the topology whose name they bear; those without a name, or a text
// without a name, always.
void apply_remarks(std::string_view text, TopologyText&);

}  // namespace sy::wire
