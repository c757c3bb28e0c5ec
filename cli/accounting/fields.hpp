// What sacct can show of an attempt of a job or of its batch step: Slurm's names, widths, and how each is written.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/calendar.hpp"
#include "cli/json.hpp"

namespace sy::cli {

struct AccountingView {
  TimeStyle times;
  std::string cluster;
  char unit{};  // 'K', 'M', 'G', …; 0: as usual
  bool noconvert{};
};

struct AccountingRow {
  Json job;
  bool batch_step{};  // the ".batch" line below its job
};

struct AccountingField {
  std::string_view name;
  int width;  // negative: to the left
  void (*render)(std::string& out, const AccountingRow&, const AccountingView&);
};

std::span<const AccountingField> accounting_fields();
const AccountingField* find_accounting_field(std::string_view name);

inline constexpr std::string_view default_accounting_format = "jobid,jobname,partition,account,alloccpus,state,exitcode";
inline constexpr std::string_view brief_accounting_format = "jobid,state,exitcode";
inline constexpr std::string_view long_accounting_format =
    "jobid,jobidraw,jobname,partition,maxvmsize,maxvmsizenode,avevmsize,maxrss,maxrssnode,averss,mincpu,avecpu,ntasks,"
    "alloccpus,elapsed,state,exitcode,reqmem,alloctres";

}  // namespace sy::cli
