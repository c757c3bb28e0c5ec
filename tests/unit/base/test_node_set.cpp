#include "base/node_set.hpp"
#include "support/catch.hpp"

using namespace sy::base;

TEST_CASE("a node set counts, intersects and forgets trailing zeros when compared") {
  NodeSet a = NodeSet::range(60, 10);
  CHECK(a.size() == 10);
  NodeSet b{65, 200};
  CHECK(a.intersects(b));
  CHECK((a & b).to_vector() == std::vector<NodeIndex>{NodeIndex{65}});
  CHECK((a | b).size() == 11);
  CHECK((a - b).size() == 9);
  b.erase(NodeIndex{200});
  CHECK(b == NodeSet{65});
  CHECK(b.is_subset_of(a));
  CHECK_FALSE(a.is_subset_of(b));
}
