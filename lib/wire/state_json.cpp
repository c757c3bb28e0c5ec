#include "wire/state_json.hpp"

#include <nlohmann/json.hpp>

#include "wire/describe_state.hpp"
#include "wire/read_members.hpp"
#include "wire/write_members.hpp"

namespace sy::wire {

namespace {

template <class T>
base::Result<T> stored(std::string_view text, const char* what) {
  auto json = parse_json(text);
  if (!json) return base::fail(json.error());
  return read_described<T>(*json, Source::stored, what);
}

}  // namespace

void append_json(std::string& out, const model::Attempt& v) { write_value(out, v); }
void append_json(std::string& out, const model::Job& v) { write_value(out, v); }
void append_json(std::string& out, const model::Node& v) { write_value(out, v); }
void append_json(std::string& out, const model::NodeShape& v) { write_value(out, v); }
void append_json(std::string& out, const model::ExitRecord& v) { write_value(out, v); }
void append_json(std::string& out, const std::vector<model::NodeGrant>& v) { write_value(out, v); }
void append_json(std::string& out, const model::Partition& v) { write_value(out, v); }
void append_json(std::string& out, const model::Settings& v) { write_value(out, v); }
void append_json(std::string& out, const model::Topology& v) { write_value(out, v); }
void append_json(std::string& out, const model::EnrolToken& v) { write_value(out, v); }

base::Result<model::Attempt> attempt_from_text(std::string_view text) { return stored<model::Attempt>(text, "attempt"); }
base::Result<model::Job> job_from_text(std::string_view text) { return stored<model::Job>(text, "job"); }
base::Result<model::Node> node_from_text(std::string_view text) { return stored<model::Node>(text, "node"); }
base::Result<model::Partition> partition_from_text(std::string_view text) { return stored<model::Partition>(text, "partition"); }
base::Result<model::Settings> settings_from_text(std::string_view text) { return stored<model::Settings>(text, "settings"); }
base::Result<model::Topology> topology_from_text(std::string_view text) { return stored<model::Topology>(text, "topology"); }
base::Result<model::EnrolToken> enrol_token_from_text(std::string_view text) { return stored<model::EnrolToken>(text, "enrol_token"); }

base::Result<model::ExitRecord> exit_record_from_json(const Json& json, std::string path) {
  return read_described<model::ExitRecord>(json, Source::request, std::move(path));
}
base::Result<model::NodeShape> node_shape_from_json(const Json& json, std::string path) {
  return read_described<model::NodeShape>(json, Source::request, std::move(path));
}

}  // namespace sy::wire
