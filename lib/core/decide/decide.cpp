#include "core/decide/verbs.hpp"

namespace sy::core {

Result<Decision> decide(const State& state, const Command& command) {
  const verbs::Asked asked{command.now, command.who};
  return std::visit([&](const auto& action) { return verbs::decide(state, asked, action); }, command.action);
}

}  // namespace sy::core
