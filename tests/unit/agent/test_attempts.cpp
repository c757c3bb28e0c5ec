#include <sys/inotify.h>
#include <unistd.h>

#include <filesystem>

#include "daemon/agent/attempts.hpp"
#include "http/loop.hpp"
#include "support/catch.hpp"

using namespace sy;
using What = core::ReportAttempt::What;

namespace {

constexpr base::Time now = base::time_from_seconds(1'800'000'000);

// The memory of an agent without the agent: nothing is launched, so no supervisor is needed.
struct Memory {
  std::string root;
  http::Loop loop;
  std::optional<daemon::Spool> spool;
  std::unique_ptr<daemon::Attempts> attempts;

  Memory() {
    char name[] = "/tmp/switchyard-attempts-XXXXXX";
    root = ::mkdtemp(name);
    open();
  }
  ~Memory() {
    attempts.reset();
    spool.reset();
    std::error_code ignored;
    std::filesystem::remove_all(root, ignored);
  }
  void open() {
    attempts.reset();
    spool.reset();
    spool = daemon::Spool::open(root + "/spool").value();
    daemon::Attempts::Site site;
    site.node = "n1";
    site.boot_id = "boot-1";
    attempts = std::make_unique<daemon::Attempts>(loop, *spool, site, daemon::CpuBinding{}, "/bin/false", [] {});
    attempts->recover();
  }
  // Over from the first: it never ran here and never may.
  daemon::AttemptKey told_to_end(std::uint64_t job, base::Time expires) const {
    wire::EndMessage m;
    m.job = base::JobId{job};
    m.attempt = base::AttemptNumber{1};
    m.epoch = 1;
    m.node = "n1";
    m.expires = expires;
    REQUIRE(attempts->end(m, now));
    return {m.job, m.attempt};
  }
};

}  // namespace

TEST_CASE("a record goes when its end is acknowledged and no launch of it can be valid any more, not earlier") {
  Memory m;
  const auto expires = now + base::seconds{120};
  const auto key = m.told_to_end(7, expires);
  const auto other = m.told_to_end(8, expires);
  m.attempts->tend(expires + base::hours{24 * 365});  // never acknowledged: kept for ever
  CHECK(m.attempts->knows(key));
  m.attempts->acknowledged({key.job, key.attempt, What::cleared});
  m.attempts->tend(expires + base::seconds{59});      // a clock that is a minute off would still take the launch
  CHECK(m.attempts->knows(key));
  m.attempts->tend(expires + base::seconds{61});
  CHECK_FALSE(m.attempts->knows(key));
  CHECK(m.attempts->knows(other));
  m.open();                                            // on disk as well
  CHECK_FALSE(m.attempts->knows(key));
  CHECK(m.attempts->knows(other));
}

// Else an agent that is killed in between finds an attempt without its marks, as if it had been accepted and never started: it ran twice.
TEST_CASE("of a record that is dropped, what says that it may run goes first") {
  Memory m;
  const auto key = m.told_to_end(7, now);
  m.attempts->acknowledged({key.job, key.attempt, What::cleared});
  const int watch = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  REQUIRE(::inotify_add_watch(watch, (m.root + "/spool/attempts/7.1").c_str(), IN_DELETE) >= 0);
  m.attempts->tend(now + base::seconds{61});
  CHECK_FALSE(m.attempts->knows(key));
  alignas(inotify_event) char buffer[4096];
  REQUIRE(::read(watch, buffer, sizeof buffer) > static_cast<ssize_t>(sizeof(inotify_event)));
  ::close(watch);
  CHECK(std::string{buffer + sizeof(inotify_event)} == "launch");
}

TEST_CASE("what was acknowledged before a restart of the agent is reported again, and kept until it is acknowledged again") {
  Memory m;
  const auto key = m.told_to_end(7, now + base::seconds{120});
  m.attempts->acknowledged({key.job, key.attempt, What::cleared});
  CHECK(m.attempts->due_reports(10).empty());
  m.open();
  CHECK(m.attempts->due_reports(10).size() == 1);
  m.attempts->tend(now + base::hours{24});
  CHECK(m.attempts->knows(key));
  m.attempts->acknowledged({key.job, key.attempt, What::cleared});
  m.attempts->tend(now + base::hours{24});
  CHECK_FALSE(m.attempts->knows(key));
}
