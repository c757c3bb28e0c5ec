// The body of a submission: a job's spec as JSON. What is read writes as text that reads as the same spec.
#include <nlohmann/json.hpp>

#include "fuzz/fuzz.hpp"
#include "wire/job_change_json.hpp"
#include "wire/job_spec_json.hpp"

using namespace sy;

void sy::fuzz::fuzz_one(std::string_view input) {
  const auto json = wire::Json::parse(input, nullptr, false);
  if (json.is_discarded()) return;
  (void)wire::job_change_from_json(json);
  const auto spec = wire::job_spec_from_json(json);
  if (!spec) {
    FUZZ_CHECK(!spec.error().message.empty());
    return;
  }
  FUZZ_CHECK(!spec->groups.empty());
  const std::string text = wire::job_spec_text(*spec);
  const auto back = wire::job_spec_from_stored_text(text);
  FUZZ_CHECK(back.has_value());
  FUZZ_CHECK(*back == *spec);
  FUZZ_CHECK(wire::job_spec_text(*back) == text);
  FUZZ_PLANT(unusual(spec->work_dir));
}
