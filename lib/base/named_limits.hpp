// The limits of a process that a job inherits from the shell that submits it: SLURM_RLIMIT_<name> in its environment. Names and
// numbers only; cli/ reads the limits, the supervisor sets them.
#pragma once

#include <sys/resource.h>

#include <string_view>

namespace sy::base {

struct NamedLimit {
  std::string_view name;
  decltype(RLIMIT_CORE) which;
};
inline constexpr NamedLimit named_limits[] = {
    {"AS", RLIMIT_AS},           {"CORE", RLIMIT_CORE},     {"CPU", RLIMIT_CPU},     {"DATA", RLIMIT_DATA}, {"FSIZE", RLIMIT_FSIZE},
    {"MEMLOCK", RLIMIT_MEMLOCK}, {"NOFILE", RLIMIT_NOFILE}, {"NPROC", RLIMIT_NPROC}, {"RSS", RLIMIT_RSS},   {"STACK", RLIMIT_STACK}};

}  // namespace sy::base
