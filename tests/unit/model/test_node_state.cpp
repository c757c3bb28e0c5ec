#include "model/node.hpp"
#include "support/catch.hpp"

using namespace sy::model;
using namespace sy::base;

TEST_CASE("a node's state is told in sinfo's words") {
  Node n;
  n.total.cpus = whole_cpus(4);
  CHECK(node_state_name(n) == "unknown");
  n.contact = Contact::up;
  CHECK(node_state_name(n) == "idle");
  n.jobs = {JobId{1}};
  n.held.cpus = whole_cpus(1);
  CHECK(node_state_name(n) == "mixed");
  n.held.cpus = whole_cpus(4);
  CHECK(node_state_name(n) == "allocated");
  n.drained = true;
  CHECK(node_state_name(n) == "draining");
  n.jobs.clear();
  CHECK(node_state_name(n) == "drained");
  n.contact = Contact::silent;
  CHECK(node_state_name(n) == "drained");
  n.drained = false;
  CHECK(node_state_name(n) == "down");
  n.contact = Contact::up;
  n.down = true;
  CHECK(node_state_name(n) == "down");
  n.contact = Contact::fenced;
  CHECK(node_state_name(n) == "fenced");
}
