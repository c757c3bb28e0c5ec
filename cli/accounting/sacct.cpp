#include "cli/accounting/sacct.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/control_characters.hpp"
#include "base/option_table.hpp"
#include "cli/accounting/fields.hpp"
#include "cli/api.hpp"
#include "cli/command_options.hpp"
#include "cli/filters.hpp"
#include "cli/json_writer.hpp"
#include "cli/queue/squeue.hpp"
#include "cli/state_names.hpp"
#include "cli/text.hpp"
#include "cli/users.hpp"

namespace sy::cli {

namespace {

using base::Code;
using option::Done;
using option::Given;

struct Query : CommonOptions {
  std::string jobs, users, names, partitions, states, accounts, qos, nodes, wckeys, clusters, format, start, end, delimiter{"|"}, units;
  bool all_users{}, allocations{}, duplicates{}, no_header{}, parsable{}, parsable2{}, brief{}, long_form{}, helpformat{}, noconvert{},
      all_clusters{};
};

Done add_format(Query& q, const Given& given) { return option::add<&Query::format>(q, given); }
Done units(Query& q, const Given& given) {
  q.units = upper(given.value);
  if (q.units.size() == 1 && std::string_view{"KMGTP"}.find(q.units[0]) != std::string_view::npos) return {};
  return base::fail(base::Error{Code::invalid_argument, "not a unit", given.as_written, "K, M, G, T or P", given.value, {}});
}

// clang-format off
constexpr CommandOption<Query> table[] = {
    {"accounts", 'A', option::required, option::add<&Query::accounts>, "LIST", "jobs of these accounts"},
    {"account", 0, option::required, option::add<&Query::accounts>, "", ""},
    {"allclusters", 'L', option::none, option::set<&Query::all_clusters>, "", "all clusters: this one"},
    {"allocations", 'X', option::none, option::set<&Query::allocations>, "", "jobs only, no steps"},
    {"allusers", 'a', option::none, option::set<&Query::all_users>, "", "jobs of all users"},
    {"array", 0, option::none, nullptr, "", ""},
    {"associations", 'x', option::required, option::later<Query>, "", ""},
    {"batch-script", 'B', option::none, option::later<Query>, "", ""},
    {"brief", 'b', option::none, option::set<&Query::brief>, "", "id, state and exit code"},
    {"clusters", 'M', option::required, option::keep<&Query::clusters>, "NAME", "this cluster's name, or all"},
    {"cluster", 0, option::required, option::keep<&Query::clusters>, "", ""},
    {"completion", 'c', option::none, nullptr, "", ""},
    {"delimiter", 0, option::required, option::keep<&Query::delimiter>, "TEXT", "between columns with -p and -P"},
    {"duplicates", 'D', option::none, option::set<&Query::duplicates>, "", "every attempt of requeued jobs"},
    {"endtime", 'E', option::required, option::keep<&Query::end>, "TIME", "until (now)"},
    {"env-vars", 0, option::none, option::later<Query>, "", ""},
    {"federation", 0, option::none, nullptr, "", ""},
    {"format", 'o', option::required, add_format, "FIELDS", "columns, as in jobid,state%20"},
    {"gid", 'g', option::required, option::later<Query>, "", ""},
    {"group", 0, option::required, option::later<Query>, "", ""},
    {"helpformat", 'e', option::none, option::set<&Query::helpformat>, "", "the columns there are"},
    {"jobs", 'j', option::required, option::add<&Query::jobs>, "LIST", "these jobs"},
    {"job", 0, option::required, option::add<&Query::jobs>, "", ""},
    {"local", 0, option::none, nullptr, "", ""},
    {"long", 'l', option::none, option::set<&Query::long_form>, "", "many columns"},
    {"name", 0, option::required, option::add<&Query::names>, "LIST", "jobs of these names"},
    {"ncpus", 'I', option::required, option::later<Query>, "", ""},
    {"nnodes", 'i', option::required, option::later<Query>, "", ""},
    {"noconvert", 0, option::none, option::set<&Query::noconvert>, "", "memory in MiB"},
    {"nodelist", 'N', option::required, option::keep<&Query::nodes>, "NODES", "jobs on these nodes"},
    {"noheader", 'n', option::none, option::set<&Query::no_header>, "", "no header lines"},
    {"parsable", 'p', option::none, option::set<&Query::parsable>, "", "'|' after each column"},
    {"parsable2", 'P', option::none, option::set<&Query::parsable2>, "", "'|' between columns"},
    {"partition", 'r', option::required, option::add<&Query::partitions>, "LIST", "jobs of these partitions"},
    {"qos", 'q', option::required, option::add<&Query::qos>, "LIST", "jobs of these QOS"},
    {"starttime", 'S', option::required, option::keep<&Query::start>, "TIME", "since (midnight; with -j: ever)"},
    {"state", 's', option::required, option::add<&Query::states>, "LIST", "jobs in these states"},
    {"timelimit-max", 'K', option::required, option::later<Query>, "", ""},
    {"timelimit-min", 'k', option::required, option::later<Query>, "", ""},
    {"truncate", 'T', option::none, nullptr, "", ""},
    {"uid", 0, option::required, option::add<&Query::users>, "", ""},
    {"units", 0, option::required, units, "UNIT", "memory in K, M, G, T or P"},
    {"user", 'u', option::required, option::add<&Query::users>, "LIST", "jobs of these users"},
    {"users", 0, option::required, option::add<&Query::users>, "", ""},
    {"use-local-uid", 0, option::none, nullptr, "", ""},
    {"verbose", 'v', option::none, nullptr, "", ""},
    {"wckeys", 'W', option::required, option::add<&Query::wckeys>, "LIST", "jobs of these wckeys"},
    {"whole-hetjob", 0, option::optional, nullptr, "", ""},
    {"yaml", 0, option::optional, option::later<Query>, "", ""},
};
// clang-format on

int complain(Context& context, std::string_view what) {
  context.err.line(fmt::format("sacct: error: {}", what));
  return 1;
}

struct Column {
  const AccountingField* field;
  int width;  // negative: to the left
};

// "jobid,state%20,nodelist%-256"
base::Result<std::vector<Column>> parse_columns(std::string_view format) {
  std::vector<Column> columns;
  for (const auto& part : split_list(format)) {
    const auto percent = part.find('%');
    const std::string name = part.substr(0, percent);
    if (lower(name) == "all") {
      for (const auto& field : accounting_fields()) columns.push_back({&field, field.width});
      continue;
    }
    const AccountingField* field = find_accounting_field(name);
    if (field == nullptr) {
      std::vector<std::string> known;
      for (const auto& each : accounting_fields()) known.push_back(lower(each.name));
      const std::string near = base::nearest(lower(name), known);
      return base::fail(base::Error{Code::invalid_argument,
                                    fmt::format("Invalid field requested: \"{}\"", name),
                                    {},
                                    {},
                                    {},
                                    near.empty() ? std::string{"sacct --helpformat lists them"} : fmt::format("did you mean {}?", near)});
    }
    int width = field->width;
    if (percent != std::string::npos) {
      const std::string number = part.substr(percent + 1);
      const auto [end, fault] = std::from_chars(number.data(), number.data() + number.size(), width);
      if (fault != std::errc{} || end != number.data() + number.size() || width == 0 || width < -65'536 || width > 65'536)
        return base::fail(base::Error{
            Code::invalid_argument, fmt::format("\"{}\" is not a width", number), "--format", {}, part, "write name%20 or name%-20"});
    }
    columns.push_back({field, width});
  }
  return columns;
}

void add_parameter(std::string& query, std::string_view name, const std::string& value) {
  if (!value.empty()) query += fmt::format("{}{}={}", query.empty() ? "" : "&", name, url_encode(value));
}

// Ids of jobs and steps: "12", "12.batch", "12_3" speak of job 12 here.
base::Result<std::string> job_list(const std::string& list) {
  std::vector<std::string> ids;
  for (const auto& part : split_list(list)) {
    const std::string id = part.substr(0, part.find_first_of("._+"));
    if (id.empty() || id.find_first_not_of("0123456789") != std::string::npos)
      return base::fail(Code::invalid_argument, fmt::format("Bad job/step specified: {}", part));
    ids.push_back(id);
  }
  return join(ids);
}

base::Result<std::string> make_query(Context& context, const Query& q, const StateFilter& states) {
  const std::int64_t now = context.now_us() / 1'000'000;
  std::string query;
  auto ids = job_list(q.jobs);
  if (!ids) return base::fail(ids.error());
  add_parameter(query, "id", *ids);
  std::string users = user_names(q.users);
  if (users.empty() && !q.all_users && ids->empty() && context.uid != 0) users = context.me();
  add_parameter(query, "user", users);
  if (!states.all) add_parameter(query, "state", join(states.ours));
  add_parameter(query, "partition", q.partitions);
  add_parameter(query, "name", q.names);
  add_parameter(query, "node", q.nodes);
  add_parameter(query, "account", q.accounts);
  add_parameter(query, "qos", q.qos);
  add_parameter(query, "wckey", q.wckeys);
  if (!q.start.empty() || ids->empty()) {
    auto since = q.start.empty() ? base::Result<std::int64_t>{start_of_day(now)} : parse_point(q.start, now, false);
    if (!since) return base::fail(since.error());
    add_parameter(query, "since_us", std::to_string(*since * 1'000'000));
  }
  if (!q.end.empty()) {
    auto until = parse_point(q.end, now, false);
    if (!until) return base::fail(until.error());
    // "now" is the end of this second: a job of this instant belongs to it.
    add_parameter(query, "until_us", std::to_string(*until * 1'000'000 + 999'999));
  }
  if (q.duplicates) add_parameter(query, "duplicates", "1");
  return query;
}

// sacct marks what it cuts with '+'.
void append_cell(std::string& line, std::string value, int width) {
  const auto room = static_cast<std::size_t>(width < 0 ? -width : width);
  if (value.size() > room) {
    value.resize(room);
    value.back() = '+';
  }
  if (width > 0) line.append(room - value.size(), ' ');
  line += value;
  if (width < 0) line.append(room - value.size(), ' ');
  line += ' ';
}

void print_line(Context& context, const Query& q, const std::vector<Column>& columns, const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (q.parsable2) line += (i > 0 ? q.delimiter : "") + cells[i];
    else if (q.parsable) line += cells[i] + q.delimiter;
    else append_cell(line, cells[i], columns[i].width);
  }
  context.out.line(line);
}

void print_header(Context& context, const Query& q, const std::vector<Column>& columns) {
  std::vector<std::string> names;
  for (const auto& column : columns) names.emplace_back(column.field->name);
  print_line(context, q, columns, names);
  if (q.parsable || q.parsable2) return;
  std::string rule;
  for (const auto& column : columns) rule += std::string(static_cast<std::size_t>(std::abs(column.width)), '-') + " ";
  context.out.line(rule);
}

void print_rows(Context& context, const Query& q, const std::vector<Column>& columns, const std::vector<Json>& jobs,
                const AccountingView& view) {
  std::vector<std::string> cells(columns.size());
  const auto print = [&](const AccountingRow& row) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      cells[i].clear();
      columns[i].field->render(cells[i], row, view);
      if (base::find_control(cells[i]) != std::string::npos) cells[i] = base::show_control(cells[i]);
    }
    print_line(context, q, columns, cells);
  };
  for (const Json job : jobs) {
    print({job, false});
    if (!q.allocations && job["started_us"].is_number()) print({job, true});
  }
}

void timestamp(JsonWriter& w, std::string_view name, Json us) { w.member(name, us.integer() / 1'000'000); }

std::string to_json(const std::vector<Json>& jobs, std::string_view cluster) {
  JsonWriter w;
  w.object().name("jobs").array();
  for (const Json job : jobs) {
    w.object().member("job_id", job["id"].integer()).member("cluster", cluster);
    for (const auto& [name, member] : {std::pair{"account", "account"},
                                       {"group", "group"},
                                       {"name", "name"},
                                       {"nodes", "nodes"},
                                       {"partition", "partition"},
                                       {"qos", "qos"},
                                       {"user", "user"},
                                       {"working_directory", "work_dir"},
                                       {"constraints", "constraint"},
                                       {"stdout", "std_out"},
                                       {"stdin", "std_in"},
                                       {"stderr", "std_err"}})
      w.member(name, job[member].text());
    w.member("allocation_nodes", job["started_us"].is_number() ? job["node_count"].integer() : 0)
        .member("restart_cnt", job["restarts"].integer());
    w.name("comment").object().member("job", job["comment"].text()).member("administrator", "").member("system", "").close();
    w.name("state")
        .object()
        .name("current")
        .array()
        .value(job["slurm_state"].text())
        .close()
        .member("reason", job["reason"].text("None"))
        .close();
    w.name("time").object().member("elapsed", job["elapsed_s"].integer());
    timestamp(w, "submission", job["submitted_us"]);
    timestamp(w, "eligible", job["eligible_us"]);
    timestamp(w, "start", job["started_us"]);
    timestamp(w, "end", job["ended_us"]);
    const Json limit = job["time_limit_s"];
    w.name("limit")
        .object()
        .member("set", limit.is_number())
        .member("infinite", limit.is_null())
        .member("number", limit.integer() / 60)
        .close();
    const auto cpu_us = static_cast<std::int64_t>(job["cpu_time_s"].number() * 1e6);
    w.name("total").object().member("seconds", cpu_us / 1'000'000).member("microseconds", cpu_us % 1'000'000).close().close();
    const bool killed = job["exit_signal"].integer() != 0;
    w.name("exit_code")
        .object()
        .name("status")
        .array()
        .value(killed                            ? "SIGNALED"
               : job["exit_code"].integer() != 0 ? "ERROR"
                                                 : "SUCCESS")
        .close();
    w.name("return_code")
        .object()
        .member("set", job["exit_code"].is_number())
        .member("infinite", false)
        .member("number", job["exit_code"].integer())
        .close();
    w.name("signal")
        .object()
        .name("id")
        .object()
        .member("set", killed)
        .member("infinite", false)
        .member("number", job["exit_signal"].integer())
        .close();
    w.member("name", "").close().close();
    w.name("required").object().member("CPUs", job["cpus"].integer()).close();
    w.name("tres")
        .object()
        .member("allocated_str", job["started_us"].is_number() ? job["tres"].text() : "")
        .member("requested_str", job["tres"].text())
        .close();
    w.name("steps").array().close();
    w.close();
  }
  w.close();
  write_meta(w, "sacct", cluster);
  w.close();
  return w.take();
}

int print_helpformat(Context& context) {
  int column = 0;
  for (const auto& field : accounting_fields()) {
    context.out << fmt::format("{:<20}", field.name);
    if (++column % 4 == 0) context.out << "\n";
    else context.out << " ";
  }
  context.out << "\n";
  return 0;
}

int load_and_print(Context& context, const Query& q, const std::vector<Column>& columns, const StateFilter& states) {
  auto query = make_query(context, q, states);
  if (!query) return complain(context, base::to_text(query.error()));
  AccountingView view{TimeStyle::of(context), {}, q.units.empty() ? '\0' : q.units[0], q.noconvert};
  const bool shows_cluster = std::any_of(columns.begin(), columns.end(), [](const Column& c) { return c.field->name == "Cluster"; });
  const auto here = this_cluster(context, q.clusters == "-1" ? "all" : q.clusters);
  if (!here) return complain(context, here.error().code == base::Code::not_found ? here.error().message : slurm_contact_text(here.error()));
  if (shows_cluster || q.json) {
    auto config = call(context, get("/v1/config"));
    if (!config) return complain(context, slurm_contact_text(config.error()));
    view.cluster = config->root()["cluster_name"].text();
  }
  Pages pages;
  if (!(states.none && !q.states.empty())) {
    auto got = get_pages(context, "/v1/accounting", *query, "attempts");
    if (!got) return complain(context, slurm_contact_text(got.error()));
    pages = std::move(*got);
  }
  if (pages.rows.empty())
    if (const auto fault = mistyped_filter(context, q.users, {}, "Invalid user id")) return complain(context, *fault);
  if (q.json) return context.out.line(to_json(pages.rows, view.cluster)), 0;
  if (!q.no_header) print_header(context, q, columns);
  print_rows(context, q, columns, pages.rows, view);
  return 0;
}

}  // namespace

int run_sacct(Context& context, const Words& words) {
  Query q;
  auto operands = read_options<Query>(table, words, q);
  if (!operands) return complain(context, base::to_text(operands.error()));
  if (auto code = answer_common<Query>(context, table, q, "sacct [options]")) return *code;
  if (!operands->empty()) return complain(context, fmt::format("Unrecognized option: {}", operands->front()));
  if (q.helpformat) return print_helpformat(context);
  if (q.format.empty()) {
    const auto named = context.env("SACCT_FORMAT");
    q.format = q.brief                    ? brief_accounting_format
               : q.long_form              ? long_accounting_format
               : named && !named->empty() ? std::string_view{*named}
                                          : default_accounting_format;
  }
  auto columns = parse_columns(q.format);
  if (!columns) return complain(context, base::to_text(columns.error()));
  StateFilter states;
  states.all = q.states.empty();
  if (!q.states.empty()) {
    auto parsed = parse_states(q.states);
    if (!parsed) return complain(context, base::to_text(parsed.error()));
    states = std::move(*parsed);
  }
  return load_and_print(context, q, *columns, states);
}

}  // namespace sy::cli
