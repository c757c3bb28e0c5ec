#include "cli/topo/topo.hpp"

#include <fmt/format.h>

namespace sy::cli {
namespace {

constexpr std::string_view help_text =
    R"(Usage: sy topo [NAME] [--all] [--json]            the topology in force: free, busy, drained and down per domain
       sy topo show DOMAIN [--json]               one domain, its path, its nodes
       sy topo check FILE                         every fault of a file, with its line
       sy topo try --topology FILE -- OPTIONS     where a request would go, without any daemon
       sy topo import FILE [--dry-run]            the difference to what is in force, then all or nothing
       sy topo export [FILE] --format FORMAT      write what is in force, or FILE, in another format
       sy topo quality                            how well running jobs are placed, how fragmented the machine is
`sy topo COMMAND --help` tells the options of each.
)";

struct Entry {
  std::string_view name;
  int (*run)(Context&, const Words&);
};
constexpr Entry entries[] = {{"show", run_topo_show},     {"check", run_topo_check},   {"try", run_topo_try},
                             {"import", run_topo_import}, {"export", run_topo_export}, {"quality", run_topo_quality}};

}  // namespace

int run_topo(Context& context, const Words& words) {
  if (!words.empty()) {
    if (words.front() == "--help" || words.front() == "-h" || words.front() == "help") return context.out << help_text, 0;
    for (const auto& e : entries)
      if (e.name == words.front()) {
        context.program = fmt::format("sy topo {}", e.name);
        return e.run(context, Words(words.begin() + 1, words.end()));
      }
  }
  return run_topo_view(context, words);
}

}  // namespace sy::cli
