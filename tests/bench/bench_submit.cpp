// How many submissions a second the controller acknowledges through its API: N clients on keep-alive connections to the unix
// socket, each with a 4 kB script and an 8 kB environment, every one with its own Idempotency-Key.
//   bench_submit SOCKET [--clients N] [--jobs N] [--rate PER_SECOND] [--hold] [--equal]
// --rate paces the clients together and shows the latency at that load; without it they go as fast as answers come. Every job
// has a name, a script and an environment of its own; with --equal all are the same, so that scripts and environments are stored once.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Steady = std::chrono::steady_clock;

int connect_to(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    std::perror(path.c_str());
    std::exit(1);
  }
  return fd;
}

// Where a job's own number goes: the same width for all, so that bodies are made once and patched.
constexpr std::string_view own_number = "00000000";

std::string make_body(bool hold) {
  std::string script = "#!/bin/sh\\ntrue\\n# job 00000000\\n";
  while (script.size() < 4096) script += "# a line of an ordinary script, to make it as long as real ones are\\n";
  std::string environment = "\"OWN=00000000\"";
  for (int i = 0; environment.size() < 8192; ++i)
    environment += ",\"" + std::string("VARIABLE_") + std::to_string(i) + "=/usr/local/lib/some/where:/and/elsewhere\"";
  return std::string("{\"spec\":{\"name\":\"bench-00000000\",\"work_dir\":\"/tmp\",\"std_out\":\"/dev/null\",\"time_limit_s\":60") +
         (hold ? ",\"hold\":true" : "") + "},\"script\":\"" + script + "\",\"environment\":[" + environment + "]}";
}

std::vector<std::size_t> places_of_number(const std::string& body) {
  std::vector<std::size_t> places;
  for (std::size_t at = body.find(own_number); at != std::string::npos; at = body.find(own_number, at + 1)) places.push_back(at);
  return places;
}

// One answer with a Content-Length; returns its status.
int read_answer(int fd, std::string& buffer) {
  buffer.clear();
  char chunk[8192];
  std::size_t need = std::string::npos;
  while (buffer.size() < need) {
    const ssize_t n = ::read(fd, chunk, sizeof chunk);
    if (n <= 0) return -1;
    buffer.append(chunk, static_cast<std::size_t>(n));
    if (need == std::string::npos) {
      const auto head = buffer.find("\r\n\r\n");
      if (head == std::string::npos) continue;
      std::string lower = buffer.substr(0, head);
      std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
      const auto at = lower.find("content-length:");
      need = head + 4 + (at == std::string::npos ? 0 : std::strtoul(lower.c_str() + at + 15, nullptr, 10));
    }
  }
  return std::atoi(buffer.c_str() + 9);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_submit SOCKET [--clients N] [--jobs N] [--rate PER_SECOND] [--hold] [--equal]\n");
    return 2;
  }
  const std::string socket_path = argv[1];
  int clients = 8, jobs = 10000;
  double rate = 0;
  bool hold = false, equal = false;
  for (int i = 2; i < argc; ++i) {
    const std::string a = argv[i];
    if (a == "--hold") hold = true;
    else if (a == "--equal") equal = true;
    else if (i + 1 < argc && a == "--clients") clients = std::atoi(argv[++i]);
    else if (i + 1 < argc && a == "--jobs") jobs = std::atoi(argv[++i]);
    else if (i + 1 < argc && a == "--rate") rate = std::atof(argv[++i]);
  }
  const std::string one_body = make_body(hold);
  const std::vector<std::size_t> places = places_of_number(one_body);
  std::atomic<int> next{0}, failed{0};
  std::vector<std::vector<double>> latencies(static_cast<std::size_t>(clients));
  const auto began = Steady::now();
  std::vector<std::thread> threads;
  for (int c = 0; c < clients; ++c)
    threads.emplace_back([&, c] {
      const int fd = connect_to(socket_path);
      std::string answer, request, body = one_body;
      for (int j = next++; j < jobs; j = next++) {
        if (rate > 0)
          std::this_thread::sleep_until(began + std::chrono::duration_cast<Steady::duration>(std::chrono::duration<double>(j / rate)));
        char digits[16];
        std::snprintf(digits, sizeof digits, "%08d", j);
        for (const std::size_t at : places)
          if (!equal) body.replace(at, own_number.size(), digits);
        request = "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nIdempotency-Key: bench-" +
                  std::to_string(::getpid()) + "-" + std::to_string(j) + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                  body;
        const auto sent = Steady::now();
        std::size_t done = 0;
        while (done < request.size()) {
          const ssize_t n = ::write(fd, request.data() + done, request.size() - done);
          if (n <= 0) {
            ++failed;
            break;
          }
          done += static_cast<std::size_t>(n);
        }
        const int status = read_answer(fd, answer);
        if (status != 201) {
          if (failed++ == 0) std::fprintf(stderr, "first failure: status %d: %s\n", status, answer.c_str());
          if (status < 0) break;
          continue;
        }
        latencies[static_cast<std::size_t>(c)].push_back(std::chrono::duration<double, std::milli>(Steady::now() - sent).count());
      }
      ::close(fd);
    });
  for (auto& t : threads) t.join();
  const double took = std::chrono::duration<double>(Steady::now() - began).count();
  std::vector<double> all;
  for (auto& l : latencies) all.insert(all.end(), l.begin(), l.end());
  std::sort(all.begin(), all.end());
  if (all.empty()) return 1;
  std::printf("clients %d, jobs %zu, failed %d: %.0f/s, p50 %.2f ms, p99 %.2f ms, max %.2f ms\n", clients, all.size(), failed.load(),
              static_cast<double>(all.size()) / took, all[all.size() / 2], all[all.size() * 99 / 100], all.back());
  return failed == 0 ? 0 : 1;
}
