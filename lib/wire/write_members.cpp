#include "wire/write_members.hpp"

namespace sy::wire {

void write_node_set(std::string& out, const base::NodeSet& set) {
  out += '[';
  bool open = false;
  std::uint32_t first = 0, count = 0;
  const auto flush = [&] {
    if (count == 0) return;
    if (open) out += ',';
    open = true;
    append_unsigned(out, first);
    out += ',';
    append_unsigned(out, count);
  };
  set.for_each([&](base::NodeIndex n) {
    if (count != 0 && n.value == first + count) {
      ++count;
      return;
    }
    flush();
    first = n.value;
    count = 1;
  });
  flush();
  out += ']';
}

}  // namespace sy::wire
