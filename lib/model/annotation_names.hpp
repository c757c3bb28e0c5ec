// What annotations are called, for those that go over all of them: filters, checks, sheets for people.
// Not how they are stored: wire/describe_spec.hpp.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "model/job_spec.hpp"

namespace sy::model {

// By the names that the API gives them; an option is called the same with '-' for '_'.
inline constexpr std::pair<std::string_view, std::string Annotations::*> annotation_names[] = {
    {"account", &Annotations::account},     {"qos", &Annotations::qos},
    {"hint", &Annotations::hint},           {"distribution", &Annotations::distribution},
    {"cpu_bind", &Annotations::cpu_bind},   {"mem_bind", &Annotations::mem_bind},
    {"mail_type", &Annotations::mail_type}, {"mail_user", &Annotations::mail_user},
    {"comment", &Annotations::comment},     {"wckey", &Annotations::wckey}};
inline std::string option_of_annotation(std::string_view name) {
  std::string option{name};
  for (char& c : option)
    if (c == '_') c = '-';
  return option;
}

}  // namespace sy::model
