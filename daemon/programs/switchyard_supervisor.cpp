// switchyard-supervisor FOLDER: runs one attempt of a job on this node. Started by switchyard-agent, never by hand.
// switchyard-supervisor --clean FOLDER: ends what a supervisor that died has left.
#include <cstdio>
#include <cstring>
#include <exception>

#include "daemon/supervisor/supervisor.hpp"

int main(int argc, char** argv) {
  const bool cleaning = argc == 3 && std::strcmp(argv[1], "--clean") == 0;
  if (argc != 2 && !cleaning) {
    std::fprintf(stderr,
                 "usage: switchyard-supervisor [--clean] FOLDER\nStarted by switchyard-agent; there is no need to run it by hand.\n");
    return 2;
  }
  try {
    sy::supervisor::Supervisor supervisor{argv[argc - 1]};
    return cleaning ? supervisor.clean() : supervisor.run();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "switchyard-supervisor: %s\n", e.what());
    return 1;
  }
}
