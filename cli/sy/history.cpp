#include <fmt/format.h>

#include "base/size_text.hpp"
#include "cli/api.hpp"
#include "cli/calendar.hpp"
#include "cli/command_options.hpp"
#include "cli/filters.hpp"
#include "cli/queue/job_fields.hpp"
#include "cli/sy/commands.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "cli/users.hpp"

namespace sy::cli {

namespace {

struct Query : CommonOptions, WhereOption {
  std::string users, since, until, names;
  bool all{};
};
option::Done where(Query& q, const option::Given& given) { return add_where(q, given); }

constexpr CommandOption<Query> table[] = {
    {"all", 'a', option::none, option::set<&Query::all>, "", "jobs of all users"},
    {"name", 'n', option::required, option::add<&Query::names>, "LIST", "jobs of these names"},
    {"since", 'S', option::required, option::keep<&Query::since>, "TIME", "from (a week ago)"},
    {"until", 'E', option::required, option::keep<&Query::until>, "TIME", "until (now)"},
    {"user", 'u', option::required, option::add<&Query::users>, "LIST", "jobs of these users"},
    {"where", 0, option::required, where, "NAME=VALUE", "jobs with this account, qos, comment, wckey, hint, mail-type, …"},
};

base::Result<std::string> make_query(Context& context, const Query& q, const std::vector<std::string>& ids) {
  const std::int64_t now_s = context.now_us() / 1'000'000;
  std::string query;
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) query += fmt::format("{}{}={}", query.empty() ? "" : "&", name, url_encode(value));
  };
  add("id", join(ids));
  std::string users = user_names(q.users);
  if (users.empty() && !q.all && ids.empty() && context.uid != 0) users = context.me();
  add("user", users);
  add("name", q.names);
  if (ids.empty() || !q.since.empty()) {
    auto since = parse_point(q.since.empty() ? "now-7days" : std::string_view{q.since}, now_s, false);
    if (!since) return base::fail(since.error());
    add("since_us", std::to_string(*since * 1'000'000));
  }
  if (!q.until.empty()) {
    auto until = parse_point(q.until, now_s, false);
    if (!until) return base::fail(until.error());
    add("until_us", std::to_string(*until * 1'000'000));
  }
  if (!q.where.empty()) query += query.empty() ? q.where.substr(1) : q.where;
  return query;
}

}  // namespace

int run_history(Context& context, const Words& words) {
  Query q;
  auto operands = read_options<Query>(table, words, q);
  if (!operands) return complain_to_people(context, operands.error());
  if (auto code = answer_common<Query>(context, table, q, "sy history [options] [JOB …]")) return *code;
  std::vector<std::string> ids;
  for (const auto& word : *operands)
    for (auto& id : split_list(word)) {
      if (id.find_first_not_of("0123456789") != std::string::npos)
        return complain_to_people(context, fmt::format("\"{}\" is not the number of a job", id));
      ids.push_back(std::move(id));
    }
  auto query = make_query(context, q, ids);
  if (!query) return complain_to_people(context, query.error());
  auto pages = get_pages(context, "/v1/accounting", *query, "attempts");
  if (!pages) return complain_to_people(context, pages.error());
  if (q.json) {
    context.out << "[";
    for (std::size_t i = 0; i < pages->rows.size(); ++i) context.out << (i > 0 ? ",\n" : "") << pages->rows[i].raw();
    context.out << "]\n";
    return 0;
  }
  if (pages->rows.empty()) return context.out.line("No jobs in this time."), 0;
  const TimeStyle times = TimeStyle::of(context);
  Table result{{"JOB", "NAME", "USER", "STATE", "EXIT", "STARTED", "RAN", "NODES", "CPU TIME", "PEAK MEMORY"}, {}, 7};
  for (const Json job : pages->rows) {
    const std::string_view state = job["slurm_state"].text();
    const Json start = job["started_us"];
    result.rows.push_back(
        {{std::to_string(job["id"].integer()), {}},
         {std::string{job["name"].text()}, {}},
         {std::string{job["user"].text()}, {}},
         {lower(state), state_colour(state)},
         {job["exit_code"].is_number() ? fmt::format("{}:{}", job["exit_code"].integer(), job["exit_signal"].integer()) : std::string{},
          {}},
         {start.is_number() ? times.text(start.integer() / 1'000'000) : std::string{}, {}},
         {seconds_text(job["elapsed_s"], ""), {}},
         {std::string{job["nodes"].text()}, {}},
         {job["cpu_time_s"].is_number() ? fmt::format("{:.1f} s", job["cpu_time_s"].number()) : std::string{}, {}},
         {job["peak_memory_mib"].is_number() ? base::format_memory(base::Mebibytes{job["peak_memory_mib"].integer()}) : std::string{},
          {}}});
  }
  result.print(context.out);
  return 0;
}

}  // namespace sy::cli
