#include <fmt/format.h>

#include "base/control_characters.hpp"
#include "core/decide/access.hpp"
#include "core/decide/node_loss.hpp"
#include "core/decide/verbs.hpp"

namespace sy::core::verbs {

namespace {
constexpr std::size_t longest_reason = 1024;

Result<const Node*> changed_node(const State& state, const Asked& asked, NodeIndex index, std::string_view verb) {
  auto allowed = administrators_only(asked.who, verb);
  if (!allowed) return fail(allowed.error());
  return known_node(state, index);
}

Result<void> said_why(const std::string& reason) {
  if (reason.empty()) return fail(Code::invalid_argument, "a reason is required", "--reason", "", "say why, for those who ask later");
  if (reason.size() > longest_reason)
    return fail(Error{Code::too_large, "the reason is too long", "--reason", "1024 bytes", fmt::format("{} bytes", reason.size()), ""});
  if (base::find_control(reason) != std::string::npos)
    return fail(Code::invalid_argument, "the reason contains a control character", "--reason", base::show_control(reason),
                "write it without line breaks, tabs and escape sequences");
  return {};
}
}  // namespace

// No new work; what runs there runs on.
Result<Decision> decide(const State& state, const Asked& asked, const DrainNode& action) {
  auto node = changed_node(state, asked, action.node, "drain nodes");
  if (!node) return fail(node.error());
  if (auto ok = said_why(action.reason); !ok) return fail(ok.error());
  Decision d;
  d.reply.node = action.node;
  if (!(*node)->drained || (*node)->reason != action.reason)
    d.facts.push_back(NodeDrained{action.node, action.reason, describe(asked.who), asked.now});
  return d;
}

Result<Decision> decide(const State& state, const Asked& asked, const ResumeNode& action) {
  auto node = changed_node(state, asked, action.node, "resume nodes");
  if (!node) return fail(node.error());
  if (!(*node)->held.fits_in((*node)->total))
    return fail(Code::conflict, fmt::format("jobs hold more of node {} than it has since it came back", (*node)->name), "node",
                (*node)->name, "wait for those jobs to end, or cancel them");
  Decision d;
  d.reply.node = action.node;
  if ((*node)->drained || (*node)->down) d.facts.push_back(NodeResumed{action.node});
  return d;
}

// An administrator's word that the node is not to be used, and that its jobs end: they are told, and end once they are
// clear. A node that can not be told has to be fenced.
Result<Decision> decide(const State& state, const Asked& asked, const DownNode& action) {
  auto node = changed_node(state, asked, action.node, "take nodes down");
  if (!node) return fail(node.error());
  if (auto ok = said_why(action.reason); !ok) return fail(ok.error());
  Decision d;
  d.reply.node = action.node;
  if (!(*node)->down) d.facts.push_back(NodeDowned{action.node, action.reason, describe(asked.who), asked.now});
  for (auto id : (*node)->jobs)
    end_for_node(state.jobs.at(id), **node, "node " + (*node)->name + " was taken down: " + action.reason, d.facts);
  return d;
}

Result<Decision> decide(const State& state, const Asked& asked, const FenceNode& action) {
  auto node = changed_node(state, asked, action.node, "fence nodes");
  if (!node) return fail(node.error());
  Decision d;
  d.reply.node = action.node;
  const std::string how = action.how.empty() ? "sy fence" : action.how;
  if ((*node)->contact != Contact::fenced) d.facts.push_back(NodeFenced{action.node, how, describe(asked.who), asked.now});
  fenced_facts(state, **node, "node " + (*node)->name + " was fenced: " + how, d.facts);
  return d;
}

Result<Decision> decide(const State& state, const Asked& asked, const RemoveNode& action) {
  auto node = changed_node(state, asked, action.node, "remove nodes");
  if (!node) return fail(node.error());
  if ((*node)->declared)
    return fail(Code::conflict, fmt::format("node {} is named in the configuration", (*node)->name), "node", (*node)->name,
                "take it out there and reload");
  if (!(*node)->jobs.empty())
    return fail(Code::conflict, fmt::format("{} jobs hold node {}", (*node)->jobs.size(), (*node)->name), "node", (*node)->name,
                "drain it and wait, or fence it");
  Decision d;
  d.facts.push_back(NodeRemoved{action.node});
  return d;
}

}  // namespace sy::core::verbs
