// Jobs, nodes and partitions as scontrol writes them: Key=Value, in lines or on one. Not which are shown: scontrol.cpp.
#pragma once

#include <string>

#include "cli/calendar.hpp"
#include "cli/json.hpp"

namespace sy::cli {

struct RecordStyle {
  TimeStyle times;
  bool one_line{};
  bool details{};
};

std::string job_record(Json job, const RecordStyle&);
std::string node_record(Json node, const RecordStyle&);
std::string partition_record(Json partition, const RecordStyle&);

}  // namespace sy::cli
