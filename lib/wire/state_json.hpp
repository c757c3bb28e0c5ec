// What the state is made of as JSON text and back, without loss: the store's rows. Derived parts are left out.
// Not the views of the API (job_fields.hpp, views.hpp), which choose and compute.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/state.hpp"
#include "wire/json.hpp"

namespace sy::wire {

void append_json(std::string& out, const model::Attempt&);
void append_json(std::string& out, const model::Job&);
void append_json(std::string& out, const model::Node&);
void append_json(std::string& out, const model::NodeShape&);
void append_json(std::string& out, const model::ExitRecord&);
void append_json(std::string& out, const std::vector<model::NodeGrant>&);
void append_json(std::string& out, const model::Partition&);
void append_json(std::string& out, const model::Settings&);
void append_json(std::string& out, const model::Topology&);
void append_json(std::string& out, const model::EnrolToken&);

template <class T>
std::string json_text(const T& value) {
  std::string out;
  append_json(out, value);
  return out;
}

// Kept by us: no limits. Errors name the member.
base::Result<model::Attempt> attempt_from_text(std::string_view);
base::Result<model::Job> job_from_text(std::string_view);
base::Result<model::Node> node_from_text(std::string_view);
base::Result<model::Partition> partition_from_text(std::string_view);
base::Result<model::Settings> settings_from_text(std::string_view);
base::Result<model::Topology> topology_from_text(std::string_view);
base::Result<model::EnrolToken> enrol_token_from_text(std::string_view);

// From an agent's request: limited.
base::Result<model::ExitRecord> exit_record_from_json(const Json&, std::string path);
base::Result<model::NodeShape> node_shape_from_json(const Json&, std::string path);

}  // namespace sy::wire
