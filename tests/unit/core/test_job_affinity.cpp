// Affinity to other jobs: whom a target means, that jobs of one pass see each other, and what is refused or waits with which words.
#include "support/catch.hpp"
#include "support/cluster.hpp"

using namespace sy::test;

namespace {

// Four racks of two nodes: n1 n2, n3 n4, n5 n6, n7 n8.
struct Racks : Cluster {
  Racks() : Cluster(8) {
    Topology t;
    t.name = "default";
    t.kind = Topology::Kind::tree;
    t.levels = {{"rack", {}}};
    for (std::uint32_t r = 0; r < 4; ++r)
      t.domains.push_back({"r" + std::to_string(r + 1), 0, -1, {}, {NodeIndex{2 * r}, NodeIndex{2 * r + 1}}, false, true, {}});
    expect(run(ImportTopologies{{t}}, admin()));
  }
  std::string rack_of(JobId id) const { return job(id).attempt->placement->domains.at(0); }
};

Ask near(std::string target, bool require = true) {
  Ask a = ask().nodes(1).exclusive();
  a.group().affinity = {{"rack", std::move(target), require}};
  return a;
}
Ask away(std::string target, bool require = true) {
  Ask a = ask().nodes(1).exclusive();
  a.group().anti_affinity = {{"rack", std::move(target), require}};
  return a;
}

}  // namespace

TEST_CASE("a job starts beside the one that it names by number or by name, and waits until it runs") {
  Racks c;
  const JobId waits = c.submit(near("job:db"));
  c.pass();
  CHECK_FALSE(c.job(waits).attempt);
  const Verdict why = c.why(waits);
  CHECK(why.reason == Reason::resources);
  CHECK(why.causes == std::vector<Cause>{{Cause::Kind::affinity, 8}});
  CHECK(to_text(why).find("8 ruled out by affinity; job:db does not run") != std::string::npos);
  const JobId db = c.submit(ask().name("db").nodes(1).on("n5").exclusive());
  c.start(db);
  c.start(waits);
  CHECK(c.nodes_of(waits) == std::vector<std::string>{"n6"});
  c.finish(waits);
  const JobId by_number = c.submit(near("job:" + std::to_string(db.value)));
  c.start(by_number);
  CHECK(c.nodes_of(by_number) == std::vector<std::string>{"n6"});
}

TEST_CASE("a name means jobs of the same user only") {
  Racks c;
  c.start(c.submit(ask().name("db").nodes(1).on("n5").exclusive(), user(1001, "bob")));
  const JobId id = c.submit(near("job:db"));
  c.pass();
  CHECK_FALSE(c.job(id).attempt);
  const JobId bobs = c.submit(near("job:db"), user(1001, "bob"));  // an equal request, but another user's
  c.start(bobs);
  CHECK(c.nodes_of(bobs) == std::vector<std::string>{"n6"});
  CHECK_FALSE(c.job(id).attempt);
}

TEST_CASE("jobs that keep away from those of their own name start in domains of their own, in one pass too") {
  Racks c;
  std::vector<JobId> all;
  for (int i = 0; i < 5; ++i) all.push_back(c.submit(away("job:self").name("serve")));
  const JobId other = c.submit(away("job:self").name("batch"));  // equal but for its name
  c.pass();
  std::set<std::string> racks;
  for (std::size_t i = 0; i < 4; ++i) {
    REQUIRE(c.job(all[i]).attempt);
    racks.insert(c.rack_of(all[i]));
  }
  CHECK(racks.size() == 4);
  CHECK_FALSE(c.job(all[4]).attempt);
  CHECK(c.job(other).attempt);
  const Verdict why = c.why(all[4]);
  CHECK(why.causes == std::vector<Cause>{{Cause::Kind::busy, 5}, {Cause::Kind::affinity, 3}});
  c.deliver();
  const auto freed = c.rack_of(all[2]);
  c.finish(all[2]);
  c.start(all[4]);
  CHECK(c.rack_of(all[4]) == freed);
}

TEST_CASE("who wants to be near a job that has just started goes in the order of the queue") {
  Racks c;
  const JobId first = c.submit(near("job:db"));
  const JobId db = c.submit(ask().name("db").nodes(1).exclusive());
  const JobId second = c.submit(near("job:db"));  // behind it in the queue: it may not take the place in the same pass
  c.pass();
  CHECK(c.job(db).attempt);
  CHECK_FALSE(c.job(second).attempt);
  c.pass();
  REQUIRE(c.job(first).attempt);
  CHECK(c.rack_of(first) == c.rack_of(db));
  CHECK(c.why(second).causes == std::vector<Cause>{{Cause::Kind::affinity, 6}, {Cause::Kind::busy, 2}});
}

TEST_CASE("a preferred affinity is given up where it can not be kept") {
  Racks c;
  c.start(c.submit(ask().name("db").nodes(2).on("n[5-6]").exclusive()));
  const JobId near_db = c.submit(near("job:db", false));
  c.start(near_db);
  CHECK(c.rack_of(near_db) != "r3");
}

TEST_CASE("a target that is nobody's is refused with what a target can be") {
  Racks c;
  const auto refuses = [&](Ask a, const std::string& word) {
    const Error e = c.refused(std::move(a));
    INFO(to_text(e));
    CHECK(e.field == "groups.affinity");
    CHECK(to_text(e).find(word) != std::string::npos);
  };
  refuses(near("db"), "job:NAME, job:NUMBER, or job:self");
  refuses(near("job:"), "no group of this job");
  refuses(near("job:77"), "no job of yours that waits or runs has this number");
  const JobId bobs = c.submit(ask().nodes(1), user(1001, "bob"));
  refuses(away("job:" + std::to_string(bobs.value)), "no job of yours");
  const JobId mine = c.submit(ask().nodes(1));
  CHECK_NOTHROW(c.submit(away("job:" + std::to_string(mine.value))));
  Ask odd = ask();
  odd.group().children = {Group{}, Group{}};
  odd.group().children[0].name = "job:a";
  CHECK(c.refused(odd).field == "groups[0].name");
}

TEST_CASE("the first job that wants to be near those of its own name is free to choose, and the others come to it") {
  Racks c;
  const JobId first = c.submit(near("job:self").name("pair"));
  const JobId second = c.submit(near("job:self").name("pair"));
  const JobId third = c.submit(near("job:self").name("pair"));
  c.pass();
  REQUIRE(c.job(first).attempt);
  REQUIRE(c.job(second).attempt);
  CHECK(c.rack_of(second) == c.rack_of(first));
  CHECK_FALSE(c.job(third).attempt);  // a rack has two nodes
  c.deliver();
  c.finish(second);
  c.start(third);
  CHECK(c.rack_of(third) == c.rack_of(first));
}

TEST_CASE("near a job and away from it at once is refused") {
  Racks c;
  auto a = near("job:db");
  a.group().anti_affinity = {{"rack", "job:db", true}};
  const Error e = c.refused(a);
  CHECK(e.field == "anti_affinity");
  CHECK(to_text(e).find("no place is both") != std::string::npos);
  a.group().anti_affinity = {{"node", "job:db", true}};
  c.submit(a);  // in its rack, on another node
}

TEST_CASE("a job that must be near to one that has ended is told so") {
  Racks c;
  const JobId db = c.submit(ask().name("db").nodes(1).exclusive());
  const JobId id = c.submit(near("job:" + std::to_string(db.value)));
  c.expect(c.run(HoldJob{db}, admin()));
  CHECK(to_text(c.why(id)).find("job:" + std::to_string(db.value) + " does not run") != std::string::npos);
  c.expect(c.run(CancelJob{db}, admin()));
  CHECK(to_text(c.why(id)).find("job:" + std::to_string(db.value) + " has ended") != std::string::npos);
}
