#include <set>

#include "model/verdict_text.hpp"
#include "support/catch.hpp"

using namespace sy::model;

namespace {
constexpr int reasons = static_cast<int>(Reason::system_paused) + 1;
Verdict not_now(Reason r) {
  Verdict v;
  v.kind = Verdict::Kind::not_now;
  v.reason = r;
  return v;
}
}  // namespace

TEST_CASE("each reason has a name of its own that reads back") {
  std::set<std::string_view> names;
  for (int i = 0; i < reasons; ++i) {
    const auto r = static_cast<Reason>(i);
    INFO(reason_name(r));
    CHECK(names.insert(reason_name(r)).second);
    CHECK(reason_from_name(reason_name(r)) == r);
  }
  CHECK_FALSE(reason_from_name("priority"));
  CHECK_FALSE(reason_from_name(""));
  CHECK_FALSE(reason_from_name("Prio"));
}

TEST_CASE("the names that tools know from Slurm are verbatim") {
  for (const std::string name : {"None", "Priority", "Resources", "Dependency", "BeginTime", "JobHeldUser", "JobHeldAdmin", "Reservation",
                                 "ReqNodeNotAvail", "PartitionDown", "PartitionInactive", "PartitionNodeLimit", "PartitionTimeLimit",
                                 "Licenses", "NodeDown", "BadConstraints", "LaunchFailedRequeuedHeld", "job requeued in held state"}) {
    INFO(name);
    CHECK(reason_from_name(name).has_value());
  }
}

TEST_CASE("a verdict is one sentence with its numbers") {
  Verdict v;
  CHECK(to_text(v) == "it can start now");

  v = not_now(Reason::resources);
  v.offered = 16;
  v.asked = 36;
  v.causes = {{Cause::Kind::busy, 20}};
  CHECK(to_text(v) == "16 of 36 nodes free: 20 busy");
  v.causes.push_back({Cause::Kind::drained, 3});
  v.detail = "partition batch";
  CHECK(to_text(v) == "16 of 36 nodes free: 20 busy, 3 drained; partition batch");

  v = not_now(Reason::priority);
  v.ahead = 12;
  CHECK(to_text(v) == "12 jobs are before it");
  v.ahead = 1;
  CHECK(to_text(v) == "1 job is before it");

  v = not_now(Reason::partition_time_limit);
  v.kind = Verdict::Kind::never;
  v.detail = "partition short allows 2:00:00, asked 4:00:00";
  CHECK(to_text(v) ==
        "it can never start: the time limit is over what the partition allows: partition short allows 2:00:00, asked 4:00:00");

  v = not_now(Reason::bad_constraints);
  v.kind = Verdict::Kind::never;
  v.offered = 2;
  v.asked = 4;
  v.causes = {{Cause::Kind::feature, 6}};
  CHECK(to_text(v) == "it can never start: no set of nodes of this cluster fits the request: 2 of 4: 6 without the features");

  v = not_now(Reason::resources);
  v.offered = 9;
  v.asked = 8;
  v.rungs = {{"rack", {{"r3", 5, 8}, {"r1", 4, 8}}, {{Cause::Kind::busy, 3}}, {}}, {"", {}, {}, {}}};
  CHECK(to_text(v) == "9 nodes free, 8 asked");
  CHECK(rung_lines(v) == std::vector<std::string>{"rack: r3 has 5 of 8, r1 has 4 of 8 (3 busy)", "any: no domain"});
  // Said once: causes that are those of the whole, and domains that all have nothing.
  v.causes = {{Cause::Kind::busy, 3}};
  v.rungs[1] = {"any", {{"x", 0, 8}, {"y", 0, 8}}, {{Cause::Kind::down, 1}}, {}};
  CHECK(to_text(v) == "9 nodes free, 8 asked: 3 busy");
  CHECK(rung_lines(v) == std::vector<std::string>{"rack: r3 has 5 of 8, r1 has 4 of 8", "any: 0 of 8 (1 down)"});
}

TEST_CASE("no verdict is without words") {
  for (int i = 0; i < reasons; ++i) {
    CHECK(to_text(not_now(static_cast<Reason>(i))).size() > 10);
    CHECK(to_text(not_now(static_cast<Reason>(i))).find("unknown") == std::string::npos);
  }
  for (int i = 0; i <= static_cast<int>(Cause::Kind::other); ++i) CHECK_FALSE(cause_name(static_cast<Cause::Kind>(i)).empty());
}
