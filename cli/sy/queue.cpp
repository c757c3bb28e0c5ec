#include <fmt/format.h>

#include "cli/api.hpp"
#include "cli/calendar.hpp"
#include "cli/command_options.hpp"
#include "cli/filters.hpp"
#include "cli/queue/job_fields.hpp"
#include "cli/state_names.hpp"
#include "cli/sy/commands.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "cli/users.hpp"

namespace sy::cli {

int complain_to_people(Context& context, std::string_view what) {
  context.err.line(fmt::format("{}: error: {}", context.program, what));
  return 1;
}
int complain_to_people(Context& context, const base::Error& error) {
  if (!no_controller(error)) {
    base::Error plain = error;
    if (plain.field == "connection_lost") plain.field.clear(), plain.value.clear();
    return complain_to_people(context, base::to_text(plain));
  }
  return complain_to_people(
      context, fmt::format("nobody answers at {}: {}; is switchyardd running? (--socket or SWITCHYARD_SOCKET names another place)",
                           error.value, error.message));
}

namespace {

struct Query : CommonOptions, WhereOption {
  std::string users, partitions, states, names, nodes;
  bool me{}, all{};
};

option::Done where(Query& q, const option::Given& given) { return add_where(q, given); }

constexpr CommandOption<Query> table[] = {
    {"all", 'a', option::none, option::set<&Query::all>, "", "ended jobs and those of hidden partitions as well"},
    {"me", 0, option::none, option::set<&Query::me>, "", "my jobs"},
    {"name", 'n', option::required, option::add<&Query::names>, "LIST", "jobs of these names"},
    {"node", 'w', option::required, option::add<&Query::nodes>, "NODES", "jobs on these nodes"},
    {"partition", 'p', option::required, option::add<&Query::partitions>, "LIST", "jobs of these partitions"},
    {"state", 't', option::required, option::add<&Query::states>, "LIST", "jobs in these states"},
    {"user", 'u', option::required, option::add<&Query::users>, "LIST", "jobs of these users"},
    {"where", 0, option::required, where, "NAME=VALUE", "jobs with this account, qos, comment, wckey, hint, mail-type, …"},
};

void add_parameter(std::string& query, std::string_view name, const std::string& value) {
  if (!value.empty()) query += fmt::format("{}{}={}", query.empty() ? "" : "&", name, url_encode(value));
}

base::Result<std::string> make_query(Context& context, const Query& q) {
  auto states = parse_states(q.states);
  if (!states) return base::fail(states.error());
  std::string query;
  if (!q.states.empty() && !states->all) add_parameter(query, "state", join(states->ours));
  else if (!q.all && q.states.empty()) add_parameter(query, "state", std::string{active_states});
  if (!q.all && !q.me && q.partitions.empty()) add_parameter(query, "hidden", "0");
  add_parameter(query, "user", q.me ? context.me() : user_names(q.users));
  add_parameter(query, "partition", q.partitions);
  add_parameter(query, "name", q.names);
  add_parameter(query, "node", q.nodes);
  if (!q.json)
    add_parameter(query, "fields",
                  "id,name,user,partition,slurm_state,elapsed_s,time_limit_s,node_count,nodes,reason,reason_text,planned_start_us");
  if (!q.where.empty()) query += query.empty() ? q.where.substr(1) : q.where;
  return query;
}

// Where it runs, or why it waits and until when.
std::string situation(Json job, std::int64_t now_s) {
  const std::string_view state = job["slurm_state"].text();
  const std::string_view why = job["reason_text"].text();
  if (state != "PENDING") {
    if (state == "RUNNING" && !why.empty()) return fmt::format("{} ({})", job["nodes"].text(), why);
    return std::string{job["nodes"].text().empty() ? why : job["nodes"].text()};
  }
  std::string text{why.empty() ? job["reason"].text() : why};
  if (const Json start = job["planned_start_us"]; start.is_number()) {
    const auto wait = start.integer() / 1'000'000 - now_s;
    if (wait > 0) text += fmt::format("; starts in about {}", span_words(wait));
  }
  return text;
}

}  // namespace

int run_queue(Context& context, const Words& words) {
  Query q;
  auto operands = read_options<Query>(table, words, q);
  if (!operands) return complain_to_people(context, operands.error());
  if (auto code = answer_common<Query>(context, table, q, "sy queue [options]")) return *code;
  if (!operands->empty())
    return complain_to_people(context, base::Error{base::Code::invalid_argument,
                                                   "takes no words, only options",
                                                   "sy queue",
                                                   {},
                                                   operands->front(),
                                                   "sy show NUMBER shows one job; -n NAME lists those of a name"});
  auto query = make_query(context, q);
  if (!query) return complain_to_people(context, query.error());
  auto pages = get_pages(context, "/v1/jobs", *query, "jobs");
  if (!pages) return complain_to_people(context, pages.error());
  if (q.json) {
    context.out << "[";
    for (std::size_t i = 0; i < pages->rows.size(); ++i) context.out << (i > 0 ? ",\n" : "") << pages->rows[i].raw();
    context.out << "]\n";
    return 0;
  }
  if (pages->rows.empty()) return context.out.line("No jobs."), 0;
  Table result{{"JOB", "NAME", "USER", "PARTITION", "STATE", "TIME", "LIMIT", "NODES", "WHERE OR WHY NOT"}, {}, 8};
  const std::int64_t now_s = context.now_us() / 1'000'000;
  for (const Json job : pages->rows) {
    const std::string_view state = job["slurm_state"].text();
    result.rows.push_back({{std::to_string(job["id"].integer()), {}},
                           {std::string{job["name"].text()}, {}},
                           {std::string{job["user"].text()}, {}},
                           {std::string{job["partition"].text()}, {}},
                           {lower(state), state_colour(state)},
                           {seconds_text(job["elapsed_s"], ""), {}},
                           {seconds_text(job["time_limit_s"], "none"), {}},
                           {std::to_string(job["node_count"].integer()), {}},
                           {situation(job, now_s), {}}});
  }
  result.print(context.out);
  return 0;
}

}  // namespace sy::cli
