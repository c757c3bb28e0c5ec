#include "cli/cancel/scancel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/signals.hpp"
#include "cli/api.hpp"
#include "cli/command_options.hpp"
#include "cli/filters.hpp"
#include "cli/json_writer.hpp"
#include "cli/state_names.hpp"
#include "cli/text.hpp"
#include "cli/users.hpp"

namespace sy::cli {

namespace {

using base::Code;
using option::Given;

struct Query : CommonOptions {
  std::string users, names, partitions, states, accounts, qos, nodes, wckey, reservation, clusters, signal;
  bool me{}, quiet{}, verbose{}, batch{}, full{}, interactive{};
};

// clang-format off
constexpr CommandOption<Query> table[] = {
    {"account", 'A', option::required, option::add<&Query::accounts>, "NAME", "jobs of this account"},
    {"batch", 'b', option::none, option::set<&Query::batch>, "", "signal the batch shell only"},
    {"cron", 'c', option::none, nullptr, "", ""},
    {"ctld", 0, option::none, nullptr, "", ""},
    {"clusters", 'M', option::required, option::keep<&Query::clusters>, "NAME", "this cluster's name"},
    {"full", 'f', option::none, option::set<&Query::full>, "", "signal all processes, the batch shell too"},
    {"hurry", 'H', option::none, nullptr, "", ""},
    {"interactive", 'i', option::none, option::set<&Query::interactive>, "", "ask before each"},
    {"jobname", 0, option::required, option::add<&Query::names>, "", ""},
    {"me", 0, option::none, option::set<&Query::me>, "", "my jobs"},
    {"name", 'n', option::required, option::add<&Query::names>, "NAME", "jobs of this name"},
    {"nodelist", 'w', option::required, option::keep<&Query::nodes>, "NODES", "jobs on these nodes"},
    {"partition", 'p', option::required, option::add<&Query::partitions>, "NAME", "jobs of this partition"},
    {"qos", 'q', option::required, option::add<&Query::qos>, "NAME", "jobs of this QOS"},
    {"quiet", 'Q', option::none, option::set<&Query::quiet>, "", "ended jobs are no error"},
    {"reservation", 'R', option::required, option::keep<&Query::reservation>, "NAME", "jobs in this reservation"},
    {"sibling", 0, option::required, option::keep<&Query::clusters>, "", ""},
    {"signal", 's', option::required, option::keep<&Query::signal>, "NAME", "send this signal instead"},
    {"state", 't', option::required, option::add<&Query::states>, "STATE", "jobs in this state"},
    {"user", 'u', option::required, option::add<&Query::users>, "NAME", "jobs of this user"},
    {"verbose", 'v', option::none, option::set<&Query::verbose>, "", "say what is done"},
    {"wckey", 0, option::required, option::keep<&Query::wckey>, "NAME", "jobs of this wckey"},
};
// clang-format on

bool filtered(const Query& q) {
  return q.me || !(q.users + q.names + q.partitions + q.states + q.accounts + q.qos + q.nodes + q.wckey + q.reservation).empty();
}

int complain(Context& context, std::string_view what) {
  context.err.line(fmt::format("{}: error: {}", context.program, what));
  return 1;
}

// "12", and what Slurm allows after it for arrays, steps and components, which do not occur here.
base::Result<std::string> job_id(const std::string& word) {
  std::uint64_t id = 0;
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), id);
  if (fault != std::errc{} || id == 0) return base::fail(Code::invalid_argument, fmt::format("Invalid job id {}", word));
  if (end != word.data() + word.size())
    return base::fail(Code::unsupported,
                      fmt::format("Invalid job id {}: array tasks, steps and components are not carried out by this release", word));
  return word;
}

void add_parameter(std::string& query, std::string_view name, const std::string& value) {
  if (!value.empty()) query += fmt::format("{}{}={}", query.empty() ? "" : "&", name, url_encode(value));
}

// Ids of the jobs that all filters admit.
base::Result<std::vector<std::string>> find_jobs(Context& context, const Query& q, const std::vector<std::string>& ids) {
  std::string query;
  add_parameter(query, "id", join(ids));
  auto states = parse_states(q.states);
  if (!states) return base::fail(states.error());
  if (!q.states.empty() && states->none) return std::vector<std::string>{};
  add_parameter(query, "state", q.states.empty() || states->all ? std::string{active_states} : join(states->ours));
  add_parameter(query, "user", q.me ? context.me() : user_names(q.users));
  add_parameter(query, "name", q.names);
  add_parameter(query, "partition", q.partitions);
  add_parameter(query, "account", q.accounts);
  add_parameter(query, "node", q.nodes);
  query += "&fields=id,name,partition,qos,wckey";
  auto pages = get_pages(context, "/v1/jobs", query, "jobs");
  if (!pages) return base::fail(pages.error());
  std::vector<std::string> found;
  const auto qos = split_list(q.qos);
  for (const Json job : pages->rows) {
    if (!qos.empty() && std::find(qos.begin(), qos.end(), job["qos"].text()) == qos.end()) continue;
    if (!q.wckey.empty() && q.wckey != job["wckey"].text()) continue;
    if (!q.reservation.empty()) continue;
    found.push_back(std::to_string(job["id"].integer()));
  }
  return found;
}

base::Result<std::string> signal_body(const Query& q) {
  auto number = base::parse_signal(q.signal);
  if (!number) return base::fail(Code::invalid_argument, fmt::format("Unknown job signal: {}", q.signal), "--signal");
  JsonWriter w;
  std::string name = base::signal_name(*number);
  if (name.rfind("SIG", 0) == 0) name.erase(0, 3);
  if (name.find(' ') != std::string::npos) name = std::to_string(*number);
  w.object().member("signal", name).member("batch_only", q.batch).member("whole_job", q.full).close();
  return w.take();
}

// What Slurm's scancel calls the refusals that scripts look for.
std::string slurm_words(const base::Error& error) {
  if (error.code == Code::not_found) return "Invalid job id specified";
  if (error.code == Code::forbidden) return "Access/permission denied";
  if (error.code == Code::conflict) return fmt::format("Job/step already completing or completed ({})", base::to_text(error));
  return slurm_contact_text(error);
}

bool confirmed(Context& context, const std::string& id) {
  context.out << fmt::format("{} job_id={} [y/n]? ", context.program == "scancel" ? "Cancel" : "End", id);
  context.out.flush();
  const auto answer = context.read_line();
  return answer && (lower(*answer) == "y" || lower(*answer) == "yes");
}

int end_all(Context& context, const Query& q, const std::vector<std::string>& ids) {
  std::string body = "{}";
  std::string_view verb = "cancel";
  if (!q.signal.empty()) {
    auto made = signal_body(q);
    if (!made) return complain(context, base::to_text(made.error()));
    body = std::move(*made);
    verb = "signal";
  }
  int code = 0;
  for (const auto& id : ids) {
    if (q.interactive && !confirmed(context, id)) continue;
    if (q.verbose) context.err.line(fmt::format("{}: {} job {}", context.program, q.signal.empty() ? "Terminating" : "Signaling", id));
    const auto answer = call_again(context, post(fmt::format("/v1/jobs/{}/{}", id, verb), body));
    if (answer) continue;
    if (q.quiet && answer.error().code == Code::conflict) continue;
    code = complain(context, fmt::format("Kill job error on job id {}: {}", id, slurm_words(answer.error())));
    if (no_controller(answer.error())) return code;
  }
  return code;
}

}  // namespace

int run_scancel(Context& context, const Words& words) {
  Query q;
  auto operands = read_options<Query>(table, words, q);
  if (!operands) return complain(context, base::to_text(operands.error()));
  if (auto code = answer_common<Query>(context, table, q, fmt::format("{} [options] [job id …]", context.program))) return *code;
  std::vector<std::string> ids;
  for (const auto& operand : *operands)
    for (const auto& word : split_list(operand)) {
      auto id = job_id(word);
      if (!id) return complain(context, base::to_text(id.error()));
      ids.push_back(std::move(*id));
    }
  if (ids.empty() && !filtered(q)) return complain(context, "No job identification provided");
  if (const auto here = this_cluster(context, q.clusters); !here)
    return complain(context, here.error().code == Code::not_found ? here.error().message : slurm_contact_text(here.error()));
  if (q.batch && q.full) return complain(context, "--batch and --full contradict each other; keep one of them");
  if (q.batch && q.signal.empty()) q.signal = "KILL";  // as in Slurm: the batch shell alone is ended
  if (filtered(q)) {
    auto found = find_jobs(context, q, ids);
    if (!found) return complain(context, slurm_contact_text(found.error()));
    ids = std::move(*found);
    if (ids.empty())
      if (const auto fault = mistyped_filter(context, q.users, q.partitions, "Invalid user name")) return complain(context, *fault);
  }
  return end_all(context, q, ids);
}

}  // namespace sy::cli
