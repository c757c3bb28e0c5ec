#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/signals.hpp"
#include "cli/submit/apply.hpp"
#include "cli/text.hpp"

namespace sy::cli::apply {

namespace {

Done keep(std::string& to, const Given& given) {
  to = given.value;
  return {};
}

}  // namespace

Done job_name(SubmitRequest& request, const Given& given) { return keep(request.spec.name, given); }
Done output(SubmitRequest& request, const Given& given) { return keep(request.spec.std_out, given); }
Done error(SubmitRequest& request, const Given& given) { return keep(request.spec.std_err, given); }

Done input(SubmitRequest& request, const Given& given) {
  request.spec.std_in = given.value == "none" ? "/dev/null" : given.value;
  return {};
}

Done open_mode(SubmitRequest& request, const Given& given) {
  const std::string mode = lower(given.value);
  if (mode != "append" && mode != "truncate" && mode != "a" && mode != "t")
    return refuse(given, fmt::format("\"{}\" is not a way to open a file", given.value), "append, truncate");
  request.spec.append_output = mode[0] == 'a';
  return {};
}

Done chdir(SubmitRequest& request, const Given& given) {
  if (given.value.empty()) return refuse(given, "the folder's name is missing");
  request.spec.work_dir = given.value[0] == '/' ? given.value : fmt::format("{}/{}", request.work_dir, given.value);
  return {};
}

// "[R|B:]SIGNAL[@SECONDS]"
Done signal(SubmitRequest& request, const Given& given) {
  model::WarningSignal warning;
  std::string_view text = given.value;
  while (text.size() > 1 && text[1] != '@' && text.find(':') != std::string_view::npos) {
    const std::string flags = upper(text.substr(0, text.find(':')));
    if (flags.find_first_not_of("BR") != std::string::npos)
      return refuse(given, fmt::format("\"{}:\" is not known before a signal", flags), "B: for the batch shell");
    if (flags.find('B') != std::string::npos) warning.batch_shell = true;
    text.remove_prefix(flags.size() + 1);
  }
  const auto at = text.find('@');
  auto number = base::parse_signal(text.substr(0, at));
  if (!number) {
    base::Error fault = number.error();
    fault.field = given.as_written;
    fault.value = given.value;
    return base::fail(std::move(fault));
  }
  warning.number = *number;
  if (at != std::string_view::npos) {
    auto span = count(given, text.substr(at + 1), 0, 65'535);
    if (!span) return base::fail(span.error());
    warning.before_end = base::seconds{*span};
  }
  request.spec.warning_signal = warning;
  return {};
}

Done requeue(SubmitRequest& request, const Given&) {
  request.spec.requeue = true;
  return {};
}
Done no_requeue(SubmitRequest& request, const Given&) {
  request.spec.requeue = false;
  return {};
}
Done hold(SubmitRequest& request, const Given&) {
  request.spec.hold = true;
  return {};
}

Done nice(SubmitRequest& request, const Given& given) {
  std::int32_t adjustment = 100;
  if (given.has_value) {
    std::string_view text = given.value;
    if (!text.empty() && text[0] == '+') text.remove_prefix(1);
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), adjustment);
    if (text.empty() || fault != std::errc{} || end != text.data() + text.size() || adjustment > 2'147'483'645 ||
        adjustment < -2'147'483'645)
      return refuse(given, fmt::format("\"{}\" is not an adjustment", given.value), "-2147483645 to 2147483645");
  }
  request.spec.nice = adjustment;
  return {};
}

Done no_kill(SubmitRequest& request, const Given& given) {
  if (given.has_value && lower(given.value) != "off")
    return refuse(given, fmt::format("\"{}\" is not known", given.value), "nothing, or off");
  request.spec.no_kill = !given.has_value;
  return {};
}

Done wait_all_nodes(SubmitRequest& request, const Given& given) {
  if (given.value != "0" && given.value != "1") return refuse(given, fmt::format("\"{}\" is neither 0 nor 1", given.value), "0 or 1");
  request.spec.wait_all_nodes = given.value == "1";
  return {};
}

Done export_names(SubmitRequest& request, const Given& given) {
  request.export_names = given.value;
  return {};
}

Done get_user_env(SubmitRequest& request, const Given& given) {
  request.get_user_env = given.value;
  return {};
}

Done account(SubmitRequest& request, const Given& given) { return keep(request.spec.annotations.edit().account, given); }
Done qos(SubmitRequest& request, const Given& given) { return keep(request.spec.annotations.edit().qos, given); }
Done comment(SubmitRequest& request, const Given& given) { return keep(request.spec.annotations.edit().comment, given); }
Done wckey(SubmitRequest& request, const Given& given) { return keep(request.spec.annotations.edit().wckey, given); }
Done cpu_bind(SubmitRequest& request, const Given& given) { return keep(request.spec.annotations.edit().cpu_bind, given); }
Done mem_bind(SubmitRequest& request, const Given& given) { return keep(request.spec.annotations.edit().mem_bind, given); }
Done mail_user(SubmitRequest& request, const Given& given) { return keep(request.spec.annotations.edit().mail_user, given); }

Done hint(SubmitRequest& request, const Given& given) {
  static constexpr std::array<std::string_view, 4> known{"compute_bound", "memory_bound", "multithread", "nomultithread"};
  if (std::find(known.begin(), known.end(), given.value) == known.end())
    return refuse(given, fmt::format("\"{}\" is not a hint", given.value), "compute_bound, memory_bound, multithread, nomultithread");
  return keep(request.spec.annotations.edit().hint, given);
}

Done mail_type(SubmitRequest& request, const Given& given) {
  static constexpr std::array<std::string_view, 13> known{"NONE",          "BEGIN",          "END",        "FAIL",       "REQUEUE",
                                                          "ALL",           "INVALID_DEPEND", "STAGE_OUT",  "TIME_LIMIT", "TIME_LIMIT_90",
                                                          "TIME_LIMIT_80", "TIME_LIMIT_50",  "ARRAY_TASKS"};
  std::vector<std::string> types;
  for (const auto& part : split_list(given.value)) {
    types.push_back(upper(part));
    if (std::find(known.begin(), known.end(), types.back()) == known.end())
      return refuse(given, fmt::format("\"{}\" is not a mail type", part), join({known.begin(), known.end()}, ", "));
  }
  request.spec.annotations.edit().mail_type = join(types);
  return {};
}

// Read before everything else (collect.cpp), so that all options go on top of it.
Done spec(SubmitRequest& request, const Given& given) {
  request.spec_file = given.value;
  return {};
}

Done wrap(SubmitRequest& request, const Given& given) {
  request.wrap = given.value;
  return {};
}

Done clusters(SubmitRequest& request, const Given& given) { return keep(request.clusters, given); }
Done socket(SubmitRequest& request, const Given& given) { return keep(request.socket, given); }

Done parsable(SubmitRequest& request, const Given&) { return request.parsable = true, Done{}; }
Done wait(SubmitRequest& request, const Given&) { return request.wait = true, Done{}; }
Done test_only(SubmitRequest& request, const Given&) { return request.test_only = true, Done{}; }
Done json(SubmitRequest& request, const Given&) { return request.json = true, Done{}; }
Done quiet(SubmitRequest& request, const Given&) { return request.quiet = true, Done{}; }
Done verbose(SubmitRequest& request, const Given&) { return ++request.verbose, Done{}; }
Done help(SubmitRequest& request, const Given&) { return request.help = true, Done{}; }
Done usage(SubmitRequest& request, const Given&) { return request.usage = true, Done{}; }
Done version(SubmitRequest& request, const Given&) { return request.version = true, Done{}; }
// #PBS lines are never read here: there is nothing to ignore.
Done ignore_pbs(SubmitRequest&, const Given&) { return {}; }

}  // namespace sy::cli::apply
