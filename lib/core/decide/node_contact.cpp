#include "core/decide/access.hpp"
#include "core/decide/node_loss.hpp"
#include "core/decide/verbs.hpp"

namespace sy::core::verbs {

namespace {
Result<const Node*> watched(const State& state, const Asked& asked, NodeIndex index) {
  if (asked.who.role != Role::system) return fail(Code::forbidden, "only the controller watches for silence");
  return known_node(state, index);
}
}  // namespace

// Silence proves nothing: with on_lost wait (the default) nothing ends. assume_dead is what Slurm does.
Result<Decision> decide(const State& state, const Asked& asked, const NodeSilent& action) {
  auto node = watched(state, asked, action.node);
  if (!node) return fail(node.error());
  Decision d;
  if ((*node)->contact != Contact::up) return d;
  d.facts.push_back(NodeContactChanged{action.node, Contact::silent});
  if (state.settings.on_lost == Settings::OnLost::assume_dead) {
    d.facts.push_back(NodeFenced{action.node, "assume_dead", describe(asked.who), asked.now});
    fenced_facts(state, **node, "node " + (*node)->name + " went silent and is assumed dead", d.facts);
  } else {
    lost_facts(state, **node, "node " + (*node)->name + " has not been heard", d.facts);
  }
  return d;
}

Result<Decision> decide(const State& state, const Asked& asked, const NodeHeard& action) {
  auto node = watched(state, asked, action.node);
  if (!node) return fail(node.error());
  Decision d;
  // A node that never registered, or was fenced, has to register: a heartbeat says too little.
  if ((*node)->contact == Contact::silent) d.facts.push_back(NodeContactChanged{action.node, Contact::up});
  return d;
}

}  // namespace sy::core::verbs
