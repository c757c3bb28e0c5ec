#include "wire/job_spec_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "wire/describe_spec.hpp"
#include "wire/read_members.hpp"
#include "wire/write_members.hpp"

namespace sy::wire {

void validate(model::NodeRange& range, ReadContext& context) {
  if (!context.limited()) return;
  if (range.min > range.max) context.fail("has min above max", "min ≤ max", std::to_string(range.min) + " > " + std::to_string(range.max));
  if (!std::is_sorted(range.choices.begin(), range.choices.end()) ||
      std::adjacent_find(range.choices.begin(), range.choices.end()) != range.choices.end())
    context.fail("has choices that do not ascend", {}, {}, "sort them and write each once");
}

void validate(model::GresRequest& gres, ReadContext& context) {
  if (context.limited() && gres.name.empty()) context.fail("has no name", {}, {}, "write {\"name\":\"gpu\",\"count\":1}");
}

void validate(model::WarningSignal& warning, ReadContext& context) {
  if (context.limited() && warning.number == 0) context.fail("has no signal", "1 to 64", {}, "write {\"signal\":10}");
}

void validate(model::JobSpec& spec, ReadContext& context) {
  if (!context.limited()) return;
  if (spec.work_dir.empty() || spec.work_dir.front() != '/') {
    const auto place = context.enter(std::string_view{"work_dir"});
    context.fail("must be an absolute path", "begins with /", spec.work_dir, "send the directory that the job starts in");
  }
  if (spec.groups.empty()) {
    const auto place = context.enter(std::string_view{"groups"});
    context.fail("is empty", "at least one group", "0", "leave it out for a plain job of one task");
  }
}

void append_job_spec(std::string& out, const model::JobSpec& spec) { write_value(out, spec); }

std::string job_spec_text(const model::JobSpec& spec) {
  std::string out;
  append_job_spec(out, spec);
  return out;
}

Json to_json(const model::JobSpec& spec) { return Json::parse(job_spec_text(spec)); }

base::Result<model::JobSpec> job_spec_from_json(const Json& json, std::string path) {
  return read_described<model::JobSpec>(json, Source::request, std::move(path));
}

base::Result<model::JobSpec> job_spec_from_stored_text(std::string_view text) {
  auto json = parse_json(text);
  if (!json) return base::fail(json.error());
  return read_described<model::JobSpec>(*json, Source::stored, "spec");
}

}  // namespace sy::wire
