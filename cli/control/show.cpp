#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/hostlist.hpp"
#include "cli/api.hpp"
#include "cli/control/records.hpp"
#include "cli/control/scontrol.hpp"
#include "cli/filters.hpp"
#include "cli/queue/squeue.hpp"
#include "cli/text.hpp"

namespace sy::cli {

namespace {

int complain(Context& context, std::string_view what) {
  context.err.line(what);
  return 1;
}

int fail_loading(Context& context, std::string_view what, const base::Error& error) {
  return complain(context, fmt::format("{}: {}", what, slurm_contact_text(error)));
}

RecordStyle style_of(Context& context, const ScontrolOptions& options) {
  return {TimeStyle::of(context), options.one_line, options.details};
}

int show_jobs(Context& context, const ScontrolOptions& options, const Words& names) {
  std::vector<std::string> ids;
  for (const auto& word : names)
    for (const auto& id : split_list(word)) {
      if (id.empty() || id.find_first_not_of("0123456789") != std::string::npos)
        return complain(context, "slurm_load_jobs error: Invalid job id specified");
      ids.push_back(id);
    }
  Pages pages;
  if (ids.empty()) {
    auto got = get_pages(context, "/v1/jobs", options.all || context.env("SCONTROL_ALL") ? "" : "hidden=0", "jobs");
    if (!got) return fail_loading(context, "slurm_load_jobs error", got.error());
    pages = std::move(*got);
  }
  for (const auto& id : ids) {
    auto got = call(context, get("/v1/jobs/" + id));
    if (!got && got.error().code == base::Code::not_found) return complain(context, "slurm_load_jobs error: Invalid job id specified");
    if (!got) return fail_loading(context, "slurm_load_jobs error", got.error());
    pages.documents.push_back(std::move(*got));
    pages.rows.push_back(pages.documents.back().root());
  }
  const RecordStyle style = style_of(context, options);
  if (options.json) return context.out.line(squeue_json(pages.rows, {}, style.times.now_s())), 0;
  if (pages.rows.empty()) return context.out.line("No jobs in the system"), 0;
  for (const Json job : pages.rows) context.out << job_record(job, style);
  return 0;
}

// Nodes or partitions: a list from the API, filtered by names, written one by one.
int show_list(Context& context, const ScontrolOptions& options, const Words& names, bool nodes) {
  auto list = call(context, get(nodes ? "/v1/nodes" : "/v1/partitions"));
  if (!list) return fail_loading(context, nodes ? "slurm_load_node error" : "slurm_load_partitions error", list.error());
  std::vector<std::string> wanted;
  for (const auto& word : names) {
    auto expanded = nodes ? base::expand_hostlist(word) : base::Result<std::vector<std::string>>{split_list(word)};
    if (!expanded) return complain(context, "scontrol: error: " + base::to_text(expanded.error()));
    wanted.insert(wanted.end(), expanded->begin(), expanded->end());
  }
  const std::string_view kind = nodes ? "nodes" : "partitions";
  std::vector<Json> rows, chosen;
  list->root()[kind].for_each([&](Json row) { rows.push_back(row); });
  int code = 0;
  for (const auto& name : wanted) {
    const auto found = std::find_if(rows.begin(), rows.end(), [&](Json row) { return row["name"].text() == name; });
    if (found != rows.end()) chosen.push_back(*found);
    else code = complain(context, fmt::format("{} {} not found", nodes ? "Node" : "Partition", name));
  }
  if (wanted.empty()) {
    chosen = std::move(rows);
    if (!nodes && !options.all && !context.env("SCONTROL_ALL")) std::erase_if(chosen, is_kept_back);
    if (chosen.empty() && !options.json) context.out.line(fmt::format("No {} in the system", kind));
  }
  const RecordStyle style = style_of(context, options);
  std::string raw;
  for (const Json row : chosen) {
    if (options.json) raw += fmt::format("{}{}", raw.empty() ? "" : ",", row.raw());
    else context.out << (nodes ? node_record(row, style) : partition_record(row, style));
  }
  if (options.json) context.out.line(fmt::format(R"({{"{}":[{}],"sequence":{}}})", kind, raw, list->root()["sequence"].raw()));
  return code;
}

int show_hosts(Context& context, const Words& words, bool expand, bool sorted) {
  std::string text = join(words);
  if (text.empty()) text = context.env("SLURM_JOB_NODELIST").value_or(context.env("SLURM_NODELIST").value_or(""));
  if (text.empty()) return complain(context, expand ? "scontrol: error: host list is empty" : "scontrol: error: name a list of hosts");
  auto names = base::expand_hostlist(text);
  if (!names) return complain(context, fmt::format("Invalid hostlist: {}: {}", text, base::to_text(names.error())));
  if (expand)
    for (const auto& name : *names) context.out.line(name);
  else context.out.line(sorted ? base::fold_hostlist(std::move(*names)) : base::fold_hostlist_in_order(*names));
  return 0;
}

// The settings in force, flattened: "a.b = value".
void flatten(Output& out, const std::string& prefix, Json value) {
  if (value.is_object()) {
    value.for_each_member([&](std::string_view key, Json inner) {
      flatten(out, prefix.empty() ? std::string{key} : fmt::format("{}.{}", prefix, key), inner);
    });
    return;
  }
  out.line(fmt::format("{:<23} = {}", prefix, value.is_string() ? value.text() : value.raw()));
}

int show_config(Context& context, const ScontrolOptions& options) {
  auto config = call(context, get("/v1/config"));
  if (!config) return fail_loading(context, "slurm_load_ctl_conf error", config.error());
  const Json root = config->root();
  if (options.json) return context.out.line(root.raw()), 0;
  const TimeStyle times = TimeStyle::of(context);
  const auto line = [&](std::string_view key, std::string_view value) { context.out.line(fmt::format("{:<23} = {}", key, value)); };
  context.out.line(fmt::format("Configuration data as of {}", times.text(times.now_s())));
  // What tools read under Slurm's names; the rest under ours.
  Json keep = root["keep_ended_s"];
  if (!keep) keep = root["settings"]["keep_ended_s"];
  line("AccountingStorageType", "accounting_storage/switchyard");
  line("ClusterName", root["cluster_name"].text());
  line("MaxArraySize", "0");
  line("MinJobAge", fmt::format("{} sec", keep.integer(300)));
  line("SelectType", "select/cons_tres");
  line("SlurmctldHost[0]", context.host);
  line("SLURM_VERSION", slurm_version);
  flatten(context.out, "", root);
  context.out.line("");
  context.out.line(fmt::format("Slurmctld(primary) at {} is UP", context.host));
  return 0;
}

}  // namespace

int scontrol_show(Context& context, const ScontrolOptions& options, const Words& words) {
  if (words.empty()) return complain(context, "too few arguments for keyword:show");
  const Words rest(words.begin() + 1, words.end());
  std::string what = lower(words.front());
  Words names = rest;
  // Slurm also takes "JobId=7" and "node=n1".
  if (const auto equals = what.find('='); equals != std::string::npos) {
    names.insert(names.begin(), words.front().substr(equals + 1));
    what = what.substr(0, equals);
    if (what == "jobid" || what == "nodename" || what == "partitionname") what.resize(what.size() - (what == "jobid" ? 2 : 4));
  }
  if (what == "jobs" || match_word(what, {"job"}) == "job") return show_jobs(context, options, names);
  if (what == "nodes" || match_word(what, {"node"}) == "node") return show_list(context, options, names, true);
  if (what == "partitions" || match_word(what, {"partition"}) == "partition") return show_list(context, options, names, false);
  if (what == "hostlist") return show_hosts(context, rest, false, false);
  if (what == "hostlistsorted") return show_hosts(context, rest, false, true);
  if (what == "hostnames" || what == "hostname" || match_word(what, {"hostnames"}) == "hostnames")
    return show_hosts(context, rest, true, false);
  if (what == "config" || match_word(what, {"config"}) == "config") return show_config(context, options);
  if (what == "reservations" || match_word(what, {"reservation"}) == "reservation")
    return context.out.line("No reservations in the system"), 0;
  if (what == "licenses" || match_word(what, {"licenses"}) == "licenses")
    return context.out.line(options.json ? "{\"licenses\":[]}" : "No licenses configured in Slurm."), 0;
  if (what == "steps" || match_word(what, {"step"}) == "step") return context.out.line("No job steps in the system"), 0;
  return complain(context,
                  fmt::format("invalid entity:{} for keyword:show; this release shows job, node, partition, hostnames, hostlist, config",
                              words.front()));
}

}  // namespace sy::cli
