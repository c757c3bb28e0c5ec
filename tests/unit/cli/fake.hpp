// A controller made of canned answers, and a context that reads like the world it stands for.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/api.hpp"
#include "cli/command_table.hpp"
#include "cli/context.hpp"

namespace sy::cli::test {

struct Canned {
  int status{200};
  std::string body;
};

// Answers by "METHOD path-without-query"; keeps what was asked.
struct FakeController {
  std::map<std::string, Canned> answers;
  std::vector<Request> asked;
  bool dead{};
};

// What the controller leaves of a list of nodes when it is asked for some fields.
inline std::string only_fields(const std::string& body, const std::string& fields) {
  auto json = nlohmann::json::parse(body);
  for (auto& node : json["nodes"])
    for (auto member = node.begin(); member != node.end();)
      member = ("," + fields + ",").find("," + member.key() + ",") == std::string::npos ? node.erase(member) : std::next(member);
  return json.dump();
}

class FakeTransport : public Transport {
 public:
  explicit FakeTransport(FakeController& controller) : controller_(controller) {}
  base::Result<Response> send(const Request& request) override {
    controller_.asked.push_back(request);
    if (controller_.dead)
      return base::fail(
          base::Error{base::Code::unavailable, "can not reach it", "connect_failed", {}, "/run/test.sock", "is switchyardd running?"});
    const auto found = controller_.answers.find(request.method + " " + request.path.substr(0, request.path.find('?')));
    if (found == controller_.answers.end())
      return Response{404, R"({"status":404,"code":"not_found","detail":"nothing there","field":"path"})"};
    const auto fields = request.path.find("?fields=");
    if (request.path.rfind("/v1/nodes?", 0) != 0 || fields == std::string::npos) return Response{found->second.status, found->second.body};
    return Response{found->second.status, only_fields(found->second.body, request.path.substr(fields + 8))};
  }

 private:
  FakeController& controller_;
};

// 2026-11-29 14:00:00 UTC
inline constexpr std::int64_t test_now_us = 1'795'960'800'000'000;

struct World {
  FakeController controller;
  Context context;

  World() {
    context.user = "ann";
    context.uid = 1000;
    context.host = "login1";
    context.work_dir = "/home/ann/work";
    context.environment = {"HOME=/home/ann", "PATH=/bin", "TZ=UTC"};
    context.now_us = [] { return test_now_us; };
    context.sleep_ms = [](int) {};
    context.read_stdin = [] { return std::string{"#!/bin/sh\ntrue\n"}; };
    context.connect = [this](const std::string&) { return std::make_unique<FakeTransport>(controller); };
  }
  void answer(const std::string& what, std::string body, int status = 200) { controller.answers[what] = {status, std::move(body)}; }
  int run(Words words) { return run_command(context, words); }
  std::string out() const { return context.out.text(); }
  std::string err() const { return context.err.text(); }
  // The body of the last request as it was sent.
  const Request& last() const { return controller.asked.back(); }
};

// A working directory of its own, gone afterwards.
struct Folder {
  std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::path path;
  Folder() {
    char name[] = "/tmp/sy-topo-XXXXXX";
    path = ::mkdtemp(name);
    std::filesystem::current_path(path);
  }
  ~Folder() {
    std::filesystem::current_path(before);
    std::filesystem::remove_all(path);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  void file(const std::string& name, const std::string& text) const { std::ofstream{path / name} << text; }
};

// Compares with tests/golden/cli/NAME, or writes it when REWRITE=1 is set.
void check_golden(const std::string& name, const std::string& text);

}  // namespace sy::cli::test
