#include "cli/queue/squeue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "cli/api.hpp"
#include "cli/command_options.hpp"
#include "cli/filters.hpp"
#include "cli/queue/job_fields.hpp"
#include "cli/state_names.hpp"
#include "cli/text.hpp"
#include "cli/users.hpp"

namespace sy::cli {

namespace {

using base::Code;

constexpr std::string_view usage = "squeue [options]";
constexpr std::string_view default_format = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R";
constexpr std::string_view long_format = "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R";
constexpr std::string_view start_format = "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %20Y %R";
constexpr std::string_view step_format = "%.15i %.8j %.9P %.8u %.9M %N";
constexpr std::string_view state_format = "%.18i %.2t %.8T";
constexpr std::string_view default_sort = "P,t,-p";

struct Query : CommonOptions {
  std::string jobs, users, states, partitions, names, nodes, accounts, qos, clusters, reservation, licenses;
  std::string letters, field_names, sort;
  int iterate_s{};
  bool no_header{}, long_form{}, start{}, me{}, noconvert{}, state_only{}, steps{};
  bool users_given{}, jobs_given{}, all{}, helpformat{};
};

using option::Done;
using option::Given;

Done all_states(Query& q, const Given& given) {
  q.states = given.has_value ? given.value : "all";
  return {};
}
Done iterate(Query& q, const Given& given) {
  const auto& v = given.value;
  const auto [end, fault] = std::from_chars(v.data(), v.data() + v.size(), q.iterate_s);
  if (fault != std::errc{} || end != v.data() + v.size() || q.iterate_s < 1)
    return base::fail(base::Error{Code::invalid_argument, "Invalid value for iteration", given.as_written, "seconds, from 1", v, {}});
  return {};
}
Done jobs(Query& q, const Given& given) {
  q.jobs_given = q.jobs_given || given.has_value;
  return option::add<&Query::jobs>(q, given);
}
// "12.batch" names the job's step; which steps a job has is the controller's to say.
Done steps(Query& q, const Given& given) {
  q.steps = true;
  if (!given.has_value) return {};
  q.jobs_given = true;
  for (const auto& step : split_list(given.value)) q.jobs += (q.jobs.empty() ? "" : ",") + step.substr(0, step.find('.'));
  return {};
}
Done users(Query& q, const Given& given) {
  q.users_given = true;
  return option::add<&Query::users>(q, given);
}
Done hide(Query& q, const Given&) { return q.all = false, Done{}; }
Done format(Query& q, const Given& given) { return q.field_names.clear(), option::keep<&Query::letters>(q, given); }
Done names(Query& q, const Given& given) { return q.letters.clear(), option::keep<&Query::field_names>(q, given); }

// clang-format off
constexpr CommandOption<Query> table[] = {
    {"account", 'A', option::required, option::add<&Query::accounts>, "LIST", "jobs of these accounts"},
    {"accounts", 0, option::required, option::add<&Query::accounts>, "", ""},
    {"all", 'a', option::none, option::set<&Query::all>, "", "jobs of hidden partitions as well"},
    {"array", 'r', option::none, nullptr, "", "one line for each array element"},
    {"array-unique", 0, option::none, nullptr, "", ""},
    {"clusters", 'M', option::required, option::keep<&Query::clusters>, "NAME", "this cluster's name, or all"},
    {"cluster", 0, option::required, option::keep<&Query::clusters>, "", ""},
    {"expand-patterns", 0, option::none, nullptr, "", ""},
    {"federation", 0, option::none, nullptr, "", ""},
    {"format", 'o', option::required, format, "FORMAT", "columns by letter, as in \"%i %t\""},
    {"Format", 'O', option::required, names, "FIELDS", "columns by name, as in JobID:10,State"},
    {"helpFormat", 0, option::none, option::set<&Query::helpformat>, "", "the fields of -o and -O"},
    {"hide", 0, option::none, hide, "", "no jobs of hidden partitions (the default)"},
    {"iterate", 'i', option::required, iterate, "SECONDS", "again every so often"},
    {"jobs", 'j', option::required, jobs, "LIST", "these jobs"},
    {"job", 0, option::required, jobs, "", ""},
    {"licenses", 'L', option::required, option::keep<&Query::licenses>, "LIST", "jobs that use these licences"},
    {"local", 0, option::none, nullptr, "", ""},
    {"long", 'l', option::none, option::set<&Query::long_form>, "", "more columns"},
    {"me", 0, option::none, option::set<&Query::me>, "", "my jobs"},
    {"name", 'n', option::required, option::add<&Query::names>, "LIST", "jobs of these names"},
    {"names", 0, option::required, option::add<&Query::names>, "", ""},
    {"noconvert", 0, option::none, option::set<&Query::noconvert>, "", "memory in MiB"},
    {"nodelist", 'w', option::required, option::keep<&Query::nodes>, "NODES", "jobs on these nodes"},
    {"nodes", 0, option::required, option::keep<&Query::nodes>, "", ""},
    {"noheader", 'h', option::none, option::set<&Query::no_header>, "", "no header line"},
    {"only-job-state", 0, option::none, option::set<&Query::state_only>, "", "ids and states only"},
    {"partition", 'p', option::required, option::add<&Query::partitions>, "LIST", "jobs of these partitions"},
    {"partitions", 0, option::required, option::add<&Query::partitions>, "", ""},
    {"priority", 'P', option::none, nullptr, "", ""},
    {"qos", 'q', option::required, option::add<&Query::qos>, "LIST", "jobs of these QOS"},
    {"qoss", 0, option::required, option::add<&Query::qos>, "", ""},
    {"reservation", 'R', option::required, option::keep<&Query::reservation>, "NAME", "jobs in this reservation"},
    {"sibling", 0, option::none, nullptr, "", ""},
    {"sort", 'S', option::required, option::keep<&Query::sort>, "LETTERS", "order, as in t,-p"},
    {"start", 0, option::none, option::set<&Query::start>, "", "waiting jobs with their planned start"},
    {"states", 't', option::required, all_states, "LIST", "jobs in these states, or all"},
    {"state", 0, option::required, all_states, "", ""},
    {"steps", 's', option::optional, steps, "LIST", "steps of running jobs; so far each has its batch step"},
    {"user", 'u', option::required, users, "LIST", "jobs of these users"},
    {"users", 0, option::required, users, "", ""},
    {"verbose", 'v', option::none, nullptr, "", ""},
    {"yaml", 0, option::optional, option::later<Query>, "", ""},
};
// clang-format on

struct SortKey {
  std::size_t field;
  bool descending;
};

base::Result<std::vector<SortKey>> sort_keys(std::string_view letters) {
  std::vector<SortKey> keys;
  bool descending = false;
  for (const char c : letters) {
    if (c == ',' || c == '+' || c == ' ') {
      descending = false;
      continue;
    }
    if (c == '-') {
      descending = true;
      continue;
    }
    if (c == '#') continue;
    std::size_t i = 0;
    while (i < job_fields().size() && job_fields()[i].name.letter != c) ++i;
    if (i == job_fields().size())
      return base::fail(
          base::Error{Code::invalid_argument, fmt::format("Invalid sort specification: {}", c), "--sort", {}, std::string{letters}, {}});
    keys.push_back({i, std::exchange(descending, false)});
  }
  return keys;
}

// Stable: equal jobs stay in the order of their ids. Keys are made once a row.
void sort_rows(std::vector<Json>& rows, const std::vector<SortKey>& keys, const JobView& view) {
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
    const JobField& field = job_fields()[key->field];
    const bool down = key->descending;
    if (field.number != nullptr) {
      std::vector<std::pair<std::int64_t, Json>> keyed;
      keyed.reserve(rows.size());
      for (const Json row : rows) keyed.emplace_back(field.number(row), row);
      std::stable_sort(keyed.begin(), keyed.end(),
                       [down](const auto& a, const auto& b) { return down ? b.first < a.first : a.first < b.first; });
      std::transform(keyed.begin(), keyed.end(), rows.begin(), [](const auto& k) { return k.second; });
    } else {
      std::vector<std::pair<std::string, Json>> keyed;
      keyed.reserve(rows.size());
      for (const Json row : rows) {
        keyed.emplace_back(std::string{}, row);
        field.render(keyed.back().first, row, view);
      }
      std::stable_sort(keyed.begin(), keyed.end(),
                       [down](const auto& a, const auto& b) { return down ? b.first < a.first : a.first < b.first; });
      std::transform(keyed.begin(), keyed.end(), rows.begin(), [](const auto& k) { return k.second; });
    }
  }
}

// Job ids as tools write them: "12", "12_3" and "12+1" name the job itself here.
base::Result<std::vector<std::string>> job_ids(const std::string& list) {
  std::vector<std::string> ids;
  for (const auto& part : split_list(list)) {
    std::uint64_t id = 0;
    const auto [end, fault] = std::from_chars(part.data(), part.data() + part.size(), id);
    if (fault != std::errc{} || end != part.data() + part.size() || id == 0)
      return base::fail(Code::invalid_argument, fmt::format("Invalid job id specified: {}", part));
    ids.push_back(part);
  }
  return ids;
}

struct Plan {
  Format format;
  std::vector<SortKey> keys;
  std::vector<std::string> ids;
  StateFilter states;
  std::string query;
};

base::Result<Format> choose_format(Context& context, const Query& q) {
  const auto names = job_field_names();
  if (!q.field_names.empty()) return parse_names(q.field_names, names);
  if (!q.letters.empty()) return parse_letters(q.letters, names);
  if (q.long_form) return parse_letters(long_format, names);
  if (q.start) return parse_letters(start_format, names);
  if (q.steps) return parse_letters(step_format, names);
  if (auto named = context.env("SQUEUE_FORMAT2"); named && !named->empty()) return parse_names(*named, names);
  if (auto letters = context.env("SQUEUE_FORMAT"); letters && !letters->empty()) return parse_letters(*letters, names);
  return parse_letters(q.state_only ? state_format : default_format, names);
}

void add_parameter(std::string& query, std::string_view name, const std::string& value) {
  if (!value.empty()) query += fmt::format("{}{}={}", query.empty() ? "" : "&", name, url_encode(value));
}

base::Result<Plan> make_plan(Context& context, Query& q) {
  const auto from_environment = [&](std::string& to, std::string_view variable) {
    if (to.empty()) to = context.env(variable).value_or("");
  };
  from_environment(q.users, "SQUEUE_USERS");
  from_environment(q.states, "SQUEUE_STATES");
  from_environment(q.partitions, "SQUEUE_PARTITION");
  from_environment(q.names, "SQUEUE_NAMES");
  from_environment(q.accounts, "SQUEUE_ACCOUNT");
  from_environment(q.qos, "SQUEUE_QOS");
  from_environment(q.sort, "SQUEUE_SORT");
  if (q.me) q.users = context.me();
  if (q.start && q.states.empty()) q.states = "PENDING";
  if (q.steps) q.states = "RUNNING,SUSPENDED";

  Plan plan;
  auto format = choose_format(context, q);
  if (!format) return base::fail(format.error());
  plan.format = std::move(*format);
  auto keys = sort_keys(q.sort.empty() ? (q.start ? std::string_view{"S"} : default_sort) : std::string_view{q.sort});
  if (!keys) return base::fail(keys.error());
  plan.keys = std::move(*keys);
  auto ids = job_ids(q.jobs);
  if (!ids) return base::fail(ids.error());
  plan.ids = std::move(*ids);
  auto states = parse_states(q.states.empty() ? "PENDING,RUNNING,SUSPENDED,COMPLETING,CONFIGURING" : q.states);
  if (!states) return base::fail(states.error());
  plan.states = std::move(*states);

  std::set<std::string> needs{"id", "slurm_state"};
  const auto need = [&](std::size_t field) {
    for (auto& member : split_list(job_fields()[field].needs)) needs.insert(std::move(member));
  };
  for (const auto& column : plan.format.columns) need(column.field);
  for (const auto& key : plan.keys) need(key.field);
  if (q.steps) needs.insert("batch_host");
  add_parameter(plan.query, "id", join(plan.ids));
  // A job named by id is looked for in any state: gone and merely ended are different answers.
  if (plan.ids.empty() && !plan.states.all) add_parameter(plan.query, "state", join(plan.states.ours));
  if (!plan.ids.empty() && !plan.states.all) needs.insert({"state", "outcome"});
  add_parameter(plan.query, "user", user_names(q.users));
  add_parameter(plan.query, "partition", q.partitions);
  add_parameter(plan.query, "name", q.names);
  add_parameter(plan.query, "node", q.nodes);
  add_parameter(plan.query, "account", q.accounts);
  add_parameter(plan.query, "qos", q.qos);
  // What is named is shown, as in Slurm.
  if (!q.all && q.partitions.empty() && plan.ids.empty() && !context.env("SQUEUE_ALL")) add_parameter(plan.query, "hidden", "0");
  if (!q.json) add_parameter(plan.query, "fields", join({needs.begin(), needs.end()}));
  return plan;
}

// The columns in which the batch step differs from its job.
void render_step(std::string& cell, Json job, char letter) {
  if (letter == 'i') cell += ".batch";
  else if (letter == 'j') cell = "batch";
  else if (letter == 'N') cell = job["batch_host"].text();
}

std::string header_of(const Query& q, const Format& format) {
  const auto names = job_field_names();
  if (!q.steps) return header_line(format, names);
  std::vector<FieldName> of_steps(names.begin(), names.end());
  for (auto& each : of_steps)
    if (each.letter == 'i') each.header = "STEPID";
  return header_line(format, of_steps);
}

bool in_states(const StateFilter& filter, Json job) {
  if (filter.all) return true;
  const std::string_view state = job["state"].text() == "ended" ? job["outcome"].text() : job["state"].text();
  return std::find(filter.ours.begin(), filter.ours.end(), state) != filter.ours.end();
}

int fail_loading(Context& context, const base::Error& error) {
  context.err.line(fmt::format("slurm_load_jobs error: {}", slurm_contact_text(error)));
  return 1;
}

// The list as one screen; the exit code.
int print_once(Context& context, const Query& q, const Plan& plan, const std::string& cluster) {
  Pages pages;
  const bool nothing_can_match = plan.states.none || !q.reservation.empty() || !q.licenses.empty() || (q.jobs_given && plan.ids.empty());
  if (!nothing_can_match) {
    auto got = get_pages(context, "/v1/jobs", plan.query, "jobs");
    if (!got) return fail_loading(context, got.error());
    pages = std::move(*got);
  }
  auto& rows = pages.rows;
  if (rows.empty() && !nothing_can_match && plan.ids.empty())
    if (const auto fault = mistyped_filter(context, q.users, q.partitions, "Invalid user")) {
      context.err.line(fmt::format("squeue: error: {}", *fault));
      return 1;
    }
  if (plan.ids.size() == 1 && rows.empty()) return fail_loading(context, {Code::not_found, "Invalid job id specified", {}, {}, {}, {}});
  if (!plan.ids.empty()) std::erase_if(rows, [&](Json job) { return !in_states(plan.states, job); });

  const JobView view{TimeStyle::of(context), cluster, q.noconvert};
  if (q.json) return context.out.line(squeue_json(rows, cluster, view.times.now_s())), 0;
  sort_rows(rows, plan.keys, view);
  if (q.long_form && !q.no_header) {
    const TimeStyle when("%a %b %d %H:%M:%S %Y", view.times.now_s());
    context.out.line(when.text(view.times.now_s()));
  }
  if (!q.no_header) context.out.line(header_of(q, plan.format));
  std::string line, cell;
  for (const Json job : rows) {
    line = plan.format.prefix;
    for (const auto& column : plan.format.columns) {
      cell.clear();
      job_fields()[column.field].render(cell, job, view);
      if (q.steps) render_step(cell, job, job_fields()[column.field].name.letter);
      append_cell(line, column, cell);
    }
    line += '\n';
    context.out << line;
  }
  return 0;
}

bool shows_cluster(const Plan& plan) {
  return std::any_of(plan.format.columns.begin(), plan.format.columns.end(),
                     [](const Column& c) { return job_fields()[c.field].name.name == "Cluster"; });
}

}  // namespace

int run_squeue(Context& context, const Words& words) {
  Query q;
  auto operands = read_options<Query>(table, words, q);
  if (!operands) {
    context.err.line(fmt::format("squeue: error: {}", base::to_text(operands.error())));
    return 1;
  }
  if (auto code = answer_common<Query>(context, table, q, usage)) return *code;
  if (q.helpformat) return context.out << fields_text(job_field_names()), 0;
  if (!operands->empty()) {
    context.err.line(fmt::format("squeue: error: Unrecognized option: {}", operands->front()));
    return 1;
  }
  auto plan = make_plan(context, q);
  if (!plan) {
    const bool about_a_job = plan.error().message.rfind("Invalid job id", 0) == 0;
    context.err.line(fmt::format("{}{}", about_a_job ? "slurm_load_jobs error: " : "squeue: error: ", base::to_text(plan.error())));
    return 1;
  }
  auto named = this_cluster(context, q.clusters);
  if (!named && named.error().code != base::Code::not_found) return fail_loading(context, named.error());
  if (!named) return context.err.line(fmt::format("squeue: error: {}", named.error().message)), 1;
  std::string cluster = std::move(*named);
  if (!cluster.empty() && !q.no_header && !q.json) context.out.line(fmt::format("CLUSTER: {}", cluster));
  if (cluster.empty() && (q.json || shows_cluster(*plan))) {
    auto config = call(context, get("/v1/config"));
    if (!config) return fail_loading(context, config.error());
    cluster = config->root()["cluster_name"].text();
  }
  while (true) {
    const int code = print_once(context, q, *plan, cluster);
    if (q.iterate_s == 0) return code;
    context.out.line("");
    if (!context.out.flush()) return 1;
    context.sleep_ms(q.iterate_s * 1000);
  }
}

}  // namespace sy::cli
