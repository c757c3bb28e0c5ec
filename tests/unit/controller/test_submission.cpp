#include <atomic>
#include <future>
#include <nlohmann/json.hpp>

#include "bench.hpp"
#include "daemon/api/long_texts.hpp"
#include "daemon/api/submission.hpp"
#include "daemon/runtime/crypto.hpp"
#include "support/catch.hpp"

using namespace sy;
using namespace sy::daemon;
using namespace sy::daemon::testing;
using nlohmann::json;

namespace {
json good() { return {{"spec", {{"work_dir", "/tmp"}}}, {"script", "#!/bin/sh\ntrue\n"}, {"environment", {"A=b"}}}; }
base::Error refused(const json& body) {
  const auto read = read_submission(body.dump());
  REQUIRE_FALSE(read);
  return read.error();
}
}  // namespace

TEST_CASE("A submission is read, its script as text or base64") {
  CHECK(read_submission(good().dump())->script == "#!/bin/sh\ntrue\n");
  json body = good();
  body.erase("script");
  body["script_base64"] = to_base64("#!/bin/sh\n\xff\n");
  CHECK(read_submission(body.dump())->script == "#!/bin/sh\n\xff\n");
}

TEST_CASE("Script and environment are taken out of a plain body, and nothing else of it changes") {
  const auto out = take_out_long_texts(
      R"( {"spec":{"name":"a\"}{,"}, "script" : "#!/bin/sh\n\ttrue \"x\" \\\/\n","environment":["A=b" , "C=\\"],"dry_run":true} )");
  REQUIRE(out);
  CHECK(out->script == "#!/bin/sh\n\ttrue \"x\" \\/\n");
  CHECK(out->environment == std::vector<std::string>{"A=b", "C=\\"});
  CHECK(json::parse(out->rest) == json::parse(R"({"spec":{"name":"a\"}{,"},"script":"","environment":[],"dry_run":true})"));
  CHECK(take_out_long_texts(R"({"environment":[]})")->environment->empty());
  CHECK_FALSE(take_out_long_texts(R"({"script_base64":"IyE="})")->script);
}

TEST_CASE("A body that is not plain is left to the parser, with the same outcome") {
  for (const char* const body : {R"({"script":"\u0041"})", "{\"script\":\"\xc3\xa9\"}", "{\"script\":\"\n\"}",
                                 R"({"script":"a","script":"b"})", R"({"environment":["A=b",]})", R"({"script":"a)",
                                 R"({"environment":["A=b")", R"(["script"])", R"({"script")", "{", "", R"({"script":"\q"})"})
    CHECK_FALSE(take_out_long_texts(body));
  json body = good();
  body["script"] = "#!/bin/sh\necho caf\u00e9\n";
  body["environment"] = {"NAME=caf\u00e9"};
  CHECK(read_submission(body.dump())->script == "#!/bin/sh\necho caf\u00e9\n");
  CHECK(read_submission(body.dump())->environment.front() == "NAME=caf\u00e9");
  // Well formed up to the end of the long texts, and broken behind them.
  CHECK_FALSE(read_submission(R"({"script":"#!/bin/sh\n","environment":["A=b"],"spec":{]})"));
  CHECK_FALSE(read_submission(R"({"script":"#!/bin/sh\n","environment":["A=b"],"spec":{"work_dir":"/tmp"}} x)"));
}

TEST_CASE("What is missing, unknown, of the wrong type or too large is refused by its name") {
  json body = good();
  body["scirpt"] = "x";
  CHECK(refused(body).hint.find("script") != std::string::npos);
  body = good();
  body["environment"] = {"A=b", "nothing"};
  CHECK(refused(body).field == "environment[1]");
  body["environment"] = {1};
  CHECK(refused(body).field == "environment[0]");
  body["environment"] = "A=b";
  CHECK(refused(body).field == "environment");
  body["environment"] = {std::string("A=\0", 3)};
  CHECK(refused(body).message.find("NUL") != std::string::npos);
  body["environment"] = {"A=" + std::string(200'000, 'x')};
  CHECK(refused(body).code == base::Code::too_large);
  body["environment"] = std::vector<std::string>(30, "A=" + std::string(100'000, 'x'));
  CHECK(refused(body).field == "environment");
  body = good();
  body["dry_run"] = 1;
  CHECK(refused(body).field == "dry_run");
  body = good();
  body.erase("spec");
  CHECK(refused(body).field == "spec");
  body = good();
  body["script"] = std::string("#!/bin/sh\n\0", 11);
  CHECK(refused(body).code == base::Code::invalid_argument);
  body["script"] = "#!/bin/sh\n" + std::string(5 << 20, 'x');
  CHECK(refused(body).code == base::Code::too_large);
  body["script_base64"] = "IyE=";
  CHECK(refused(body).field == "script");
  CHECK_FALSE(read_submission(""));
  CHECK_FALSE(read_submission("[[[[[[[["));
  CHECK_FALSE(read_submission(std::string(100'000, '[')));
}

TEST_CASE("The list goes in pages, filters, and shows the fields asked for") {
  Bench bench;
  for (int i = 0; i < 7; ++i) bench.submit(i % 2 == 0 ? Bench::ann : Bench::bob, R"("name":"j)" + std::to_string(i) + "\"");
  const auto page = [&](const std::string& query) { return json::parse(bench.call(Bench::ann, "GET", "/v1/jobs?" + query).body); };
  const json first = page("fields=id&limit=3");
  CHECK(first["jobs"] == json::parse(R"([{"id":1},{"id":2},{"id":3}])"));
  CHECK(first["next"] == 3);
  CHECK(page("fields=id&limit=3&after=6")["jobs"] == json::parse(R"([{"id":7}])"));
  CHECK(page("fields=id&limit=3&after=6")["next"].is_null());
  CHECK(page("fields=name&user=bob")["jobs"].size() == 3);
  CHECK(page("fields=name&id=2,99,4")["jobs"] == json::parse(R"([{"name":"j1"},{"name":"j3"}])"));
  CHECK(page("fields=id&state=running")["jobs"].empty());
  CHECK(page("fields=id&state=pending")["jobs"].size() == 7);
  CHECK(page("fields=id&partition=main")["jobs"].size() == 7);
  CHECK(page("fields=id&name=j5")["jobs"] == json::parse(R"([{"id":6}])"));
  bench.call(Bench::bob, "POST", "/v1/jobs/2/cancel");
  CHECK(page("fields=id&state=pending,running")["jobs"].size() == 6);
  CHECK(page("fields=id&state=cancelled")["jobs"] == json::parse(R"([{"id":2}])"));
  CHECK(page("fields=id&state=CA")["jobs"].size() == 1);
}

TEST_CASE("A long list does not keep the loop from others") {
  Bench bench([](wire::DaemonSettings& s) { s.limits.burst = 100'000; });
  for (int i = 0; i < 1200; ++i) bench.ask(Bench::ann, "POST", "/v1/jobs", Bench::submission());
  bench.turn_until([&] {
    return bench.controller->ledger().committed() == bench.controller->state().sequence && bench.controller->state().jobs.size() == 1200;
  });
  const auto list = bench.ask(Bench::ann, "GET", "/v1/jobs?limit=10000");
  CHECK_FALSE(list->there);
  const auto other = bench.call(Bench::bob, "GET", "/v1/partitions/main");
  CHECK(other.status == 200);
  CHECK(json::parse(bench.now(list).body)["jobs"].size() == 1200);
}

TEST_CASE("A long poll is answered when the job changes, and when its time is over") {
  Bench bench;
  const std::uint64_t id = bench.submit();
  const auto ended = bench.ask(Bench::bob, "GET", "/v1/jobs/1?wait=50&for=ended");
  const auto change =
      bench.ask(Bench::bob, "GET", "/v1/jobs/1?wait=50&for=change&since=" + std::to_string(bench.controller->state().sequence.value));
  const auto brief = bench.ask(Bench::bob, "GET", "/v1/jobs/1?wait=1&for=started&fields=state");
  bench.turns(10);
  CHECK_FALSE(ended->there);
  CHECK_FALSE(change->there);
  bench.call(Bench::ann, "POST", "/v1/jobs/1/hold");
  CHECK(bench.now(change).status == 200);
  CHECK_FALSE(ended->there);
  bench.call(Bench::ann, "POST", "/v1/jobs/1/cancel");
  CHECK(json::parse(bench.now(ended).body)["state"] == "ended");
  CHECK(json::parse(bench.now(brief).body)["state"] == "ended");
  CHECK(bench.api->long_polls().size() == 0);
  CHECK(bench.call(Bench::bob, "GET", "/v1/jobs/1?wait=50&for=change&since=1").status == 200);  // it has changed since
  CHECK(bench.call(Bench::bob, "GET", "/v1/jobs/1?wait=50&for=nothing").status == 400);
  CHECK(bench.call(Bench::bob, "GET", "/v1/jobs/1?wait=5000&for=ended").status == 400);
  CHECK(id == 1);
}

TEST_CASE("A dry run answers what would happen and leaves no trace") {
  Bench bench;
  json body = json::parse(Bench::submission());
  body["dry_run"] = true;
  const auto sequence = bench.controller->state().sequence;
  json answer = json::parse(bench.call(Bench::ann, "POST", "/v1/jobs", body.dump()).body);
  CHECK(answer["verdict"]["kind"] == "not_now");
  bench.bring_up("n1");
  const auto before = bench.controller->state().sequence;
  answer = json::parse(bench.call(Bench::ann, "POST", "/v1/jobs", body.dump()).body);
  CHECK(answer["nodes"] == "n1");
  CHECK(answer["partition"] == "main");
  CHECK(answer["verdict"]["kind"] == "fits");
  CHECK(bench.controller->state().jobs.empty());
  CHECK(bench.controller->state().sequence == before);
  CHECK(sequence < before);
  body["spec"]["groups"] = json::parse(R"([{"nodes":{"min":3}}])");
  CHECK(bench.call(Bench::ann, "POST", "/v1/jobs", body.dump()).status == 422);
}

TEST_CASE("Accounting shows what has ended and what lives, once each") {
  Bench bench;
  bench.submit();
  bench.submit();
  bench.call(Bench::ann, "POST", "/v1/jobs/1/cancel");
  const json rows = json::parse(bench.call(Bench::bob, "GET", "/v1/accounting?fields=id,state").body);
  CHECK(rows["attempts"] == json::parse(R"([{"id":1,"state":"ended"},{"id":2,"state":"pending"}])"));
  CHECK(rows["next"].is_null());
}

TEST_CASE("Queue and accounting are filtered by whatever a submission was annotated with") {
  Bench bench;
  bench.submit(Bench::ann, R"("annotations":{"hint":"nomultithread","mail_type":"BEGIN,END","mail_user":"ann@site","comment":"a, b"})");
  bench.submit(Bench::ann, R"("annotations":{"cpu_bind":"cores","mem_bind":"local","distribution":"cyclic","qos":"high","wckey":"w"})");
  bench.submit();
  const auto ids = [&](const std::string& filter) {
    std::string found;
    for (const std::string path : {"/v1/jobs", "/v1/accounting"}) {
      const auto answer = json::parse(bench.call(Bench::bob, "GET", path + "?fields=id&" + filter).body);
      INFO(answer.dump());
      for (const auto& job : answer[answer.contains("jobs") ? "jobs" : "attempts"]) found += job["id"].dump() + " ";
    }
    return found;
  };
  CHECK(ids("hint=nomultithread") == "1 1 ");
  CHECK(ids("mail_type=END") == "1 1 ");
  CHECK(ids("mail_user=bob@site,ann@site") == "1 1 ");
  CHECK(ids("comment=a,%20b") == "1 1 ");
  CHECK(ids("cpu_bind=cores&mem_bind=local") == "2 2 ");
  CHECK(ids("distribution=cyclic&qos=high&wckey=w") == "2 2 ");
  CHECK(ids("hint=nomultithread&qos=high").empty());
  bench.call(Bench::ann, "POST", "/v1/jobs/1/cancel");
  CHECK(ids("hint=nomultithread") == "1 1 ");
  CHECK(ids("hint=multithread").empty());
  const json shown =
      json::parse(bench.call(Bench::bob, "GET", "/v1/jobs/1?fields=hint,distribution,cpu_bind,mem_bind,mail_type,mail_user").body);
  CHECK(shown == json::parse(R"({"hint":"nomultithread","distribution":"","cpu_bind":"","mem_bind":"",
                                 "mail_type":"BEGIN,END","mail_user":"ann@site"})"));
}

TEST_CASE("Jobs of hidden partitions are left out where that is asked") {
  Bench bench({}, [](core::Configure& configure) {
    configure.partitions.push_back(configure.partitions.front());
    configure.partitions.back().settings.name = "secret";
    configure.partitions.back().settings.is_default = false;
    configure.partitions.back().settings.hidden = true;
  });
  bench.submit(Bench::ann, R"("partitions":["secret"])");
  bench.submit(Bench::ann, R"("partitions":["secret","main"])");
  bench.submit();
  const auto ids = [&](const std::string& query) {
    std::string found;
    const auto answer = json::parse(bench.call(Bench::bob, "GET", "/v1/jobs?fields=id" + query).body);
    for (const auto& job : answer["jobs"]) found += job["id"].dump() + " ";
    return found;
  };
  CHECK(ids("") == "1 2 3 ");
  CHECK(ids("&hidden=1") == "1 2 3 ");
  CHECK(ids("&hidden=0") == "2 3 ");
  CHECK(bench.call(Bench::bob, "GET", "/v1/jobs?hidden=maybe").status == 400);
  bench.submit(Bench::bob, R"("partitions":["secret"])");  // who submitted a job sees it
  CHECK(ids("&hidden=0") == "2 3 4 ");
}

TEST_CASE("A partition that is closed to a user says so, and its jobs are left out like those of a hidden one") {
  Bench bench({}, [](core::Configure& configure) {
    configure.partitions.push_back(configure.partitions.front());
    configure.partitions.back().settings.name = "anns";
    configure.partitions.back().settings.is_default = false;
    configure.partitions.back().settings.allow_users = {"ann"};
  });
  bench.submit(Bench::ann, R"("partitions":["anns"])");
  const auto seen = [&](std::uint32_t who) {
    const auto jobs = json::parse(bench.call(who, "GET", "/v1/jobs?fields=id&hidden=0").body);
    const auto partitions = json::parse(bench.call(who, "GET", "/v1/partitions").body);
    return std::pair{jobs["jobs"].size(), partitions["partitions"][1]["closed"].get<bool>()};
  };
  CHECK(seen(Bench::ann) == std::pair<std::size_t, bool>{1, false});
  CHECK(seen(Bench::bob) == std::pair<std::size_t, bool>{0, true});
}

TEST_CASE("An attempt that ended to wait again is REQUEUED, and found as such") {
  Bench bench;
  bench.bring_up("n1");
  bench.submit();
  bench.turn_until([&] { return bench.controller->state().jobs.begin()->second.attempt.has_value(); });
  bench.report("n1", 1, 1, "accepted");
  bench.report("n1", 1, 1, "started");
  CHECK(bench.call(Bench::ann, "POST", "/v1/jobs/1/requeue", "{}").status == 200);
  bench.report("n1", 1, 1, "cleared");
  const auto states = [&](const std::string& query) {
    std::string found;
    const std::string path = "/v1/accounting?duplicates=1&fields=slurm_state,slurm_state_compact" + query;
    const auto answer = json::parse(bench.call(Bench::bob, "GET", path).body);
    for (const auto& row : answer["attempts"])
      found += row["slurm_state"].get<std::string>() + " " + row["slurm_state_compact"].get<std::string>() + "; ";
    return found;
  };
  CHECK(states("").starts_with("REQUEUED RQ; "));
  CHECK(states("&state=requeued") == "REQUEUED RQ; ");
  CHECK(states("&state=cancelled").empty());
  CHECK(states("&state=ended") == "REQUEUED RQ; ");
}

TEST_CASE("A job that ends while the store is read is in the accounting all the same") {
  Bench bench;
  bench.submit();
  bench.submit();
  std::atomic<bool> read{false};
  std::promise<void> go_on;
  bench.store.after_accounting = [&read, wait = go_on.get_future().share()] {
    read = true;
    wait.wait();
  };
  const auto asked = bench.ask(Bench::bob, "GET", "/v1/accounting?fields=id,state");
  bench.turn_until([&] { return read.load(); });
  CHECK(bench.call(Bench::ann, "POST", "/v1/jobs/1/cancel").status == 200);
  go_on.set_value();
  const json rows = json::parse(bench.now(asked).body);
  CHECK(rows["attempts"] == json::parse(R"([{"id":1,"state":"ended"},{"id":2,"state":"pending"}])"));
}

TEST_CASE("A script is its owner's and an administrator's") {
  Bench bench;
  bench.submit(Bench::ann);
  CHECK(bench.call(Bench::ann, "GET", "/v1/jobs/1/script").body == "#!/bin/sh\ntrue\n");
  CHECK(bench.call(Bench::root, "GET", "/v1/jobs/1/script").status == 200);
  const auto other = bench.call(Bench::bob, "GET", "/v1/jobs/1/script");
  CHECK(other.status == 403);
  CHECK(other.body.find("true") == std::string::npos);
}
