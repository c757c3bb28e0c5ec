#include <csignal>

#include "cli/command_table.hpp"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that leaves early is an error from write, not a death
  const auto context = sy::cli::process_context();
  const sy::cli::Words words(argv, argv + argc);
  const int code = sy::cli::run_command(*context, words);
  context->err.flush();
  return context->out.flush() || code != 0 ? code : 1;
}
