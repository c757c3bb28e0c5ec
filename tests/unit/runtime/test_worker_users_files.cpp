#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>

#include "daemon/runtime/log.hpp"
#include "daemon/runtime/private_folder.hpp"
#include "daemon/runtime/users.hpp"
#include "daemon/runtime/worker.hpp"
#include "support/catch.hpp"

using namespace sy;
using namespace sy::daemon;

namespace {
struct Folder {
  Folder() {
    char pattern[] = "/tmp/sy-runtime-XXXXXX";
    path = ::mkdtemp(pattern);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path;
};
}  // namespace

TEST_CASE("A worker runs its work in order on a thread of its own and the sequels on the loop") {
  http::Loop loop;
  Worker worker(loop);
  std::vector<int> order;
  const auto here = std::this_thread::get_id();
  std::atomic<bool> elsewhere{true};
  for (int i = 0; i < 100; ++i)
    worker.run([&] { elsewhere = elsewhere && std::this_thread::get_id() != here; },
               [&, i] {
                 CHECK(std::this_thread::get_id() == here);
                 order.push_back(i);
                 if (i == 99) loop.stop();
               });
  loop.run();
  CHECK(elsewhere);
  REQUIRE(order.size() == 100);
  CHECK(std::is_sorted(order.begin(), order.end()));
}

TEST_CASE("A worker that is gone calls no sequel any more") {
  http::Loop loop;
  bool called = false;
  {
    Worker worker(loop);
    std::atomic<bool> ran{false};
    worker.run([&] { ran = true; }, [&] { called = true; });
    while (!ran) std::this_thread::yield();
  }
  loop.post([&] { loop.stop(); });
  loop.run();
  CHECK_FALSE(called);
}

TEST_CASE("A user is asked for once and then remembered, and all who wait are told") {
  http::Loop loop;
  Worker worker(loop);
  std::atomic<int> asked{0};
  UserCache users(worker, [&](base::Uid uid, base::Gid gid) {
    ++asked;
    return User{uid, gid, "ann", "users", true, {gid}, {"users"}};
  });
  int told = 0;
  for (int i = 0; i < 5; ++i)
    users.find(base::Uid{7}, base::Gid{8}, [&](const User& user) {
      CHECK(user.name == "ann");
      if (++told == 5) loop.stop();
    });
  CHECK(told == 0);
  CHECK(users.known(base::Uid{7}) == nullptr);
  loop.run();
  users.find(base::Uid{7}, base::Gid{8}, [&](const User&) { ++told; });
  CHECK(told == 6);
  CHECK(asked == 1);
  CHECK(users.known(base::Uid{7})->group == "users");
}

TEST_CASE("Root is known to every machine, and an unknown uid still has a name") {
  const User root = look_up_user(base::Uid{0}, base::Gid{0});
  CHECK(root.known);
  CHECK(root.name == "root");
  CHECK(root.gids.at(0) == base::Gid{0});
  const User nobody = look_up_user(base::Uid{3'000'000'000U}, base::Gid{77});
  CHECK_FALSE(nobody.known);
  CHECK(nobody.name == "uid 3000000000");
  CHECK(nobody.gids == std::vector<base::Gid>{base::Gid{77}});
}

TEST_CASE("A private folder is made 0700, and a laxer one, a link or a file is refused") {
  const Folder folder;
  const std::string path = folder.path + "/state";
  REQUIRE(ensure_private_folder(path));
  struct stat info{};
  ::stat(path.c_str(), &info);
  CHECK((info.st_mode & 07777U) == 0700);
  CHECK(ensure_private_folder(path));
  ::chmod(path.c_str(), 0750);
  CHECK(ensure_private_folder(path).error().hint == "chmod 0700 " + path);
  ::symlink(path.c_str(), (folder.path + "/link").c_str());
  CHECK_FALSE(ensure_private_folder(folder.path + "/link"));
  REQUIRE(write_file(folder.path + "/file", "x", 0600));
  CHECK_FALSE(ensure_private_folder(folder.path + "/file"));
  CHECK_FALSE(ensure_private_folder(folder.path + "/not/there"));
}

TEST_CASE("A file is replaced whole, with its mode, and read within a limit") {
  const Folder folder;
  const std::string path = folder.path + "/ports";
  REQUIRE(write_file(path, "agents=1\n", 0644));
  REQUIRE(write_file(path, "agents=22\n", 0644));
  CHECK(read_file(path, 100).value() == "agents=22\n");
  CHECK(read_file(path, 5).error().code == base::Code::too_large);
  CHECK_FALSE(read_file(path + "x", 100));
  struct stat info{};
  ::stat(path.c_str(), &info);
  CHECK((info.st_mode & 0777U) == 0644);
  CHECK_FALSE(std::filesystem::exists(path + ".new"));
}
