#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/size_text.hpp"
#include "base/time_text.hpp"
#include "cli/submit/apply.hpp"
#include "cli/text.hpp"

namespace sy::cli::apply {

tl::unexpected<base::Error> refuse(const Given& given, std::string message, std::string limit, std::string hint) {
  return base::fail(
      base::Error{base::Code::invalid_argument, std::move(message), given.as_written, std::move(limit), given.value, std::move(hint)});
}

base::Result<std::uint32_t> count(const Given& given, std::string_view text, std::uint32_t least, std::uint32_t most) {
  std::uint32_t n = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (text.empty() || fault != std::errc{} || end != text.data() + text.size() || n < least || n > most)
    return refuse(given, text.empty() ? std::string{"a count is missing"} : fmt::format("\"{}\" is not a count", text),
                  fmt::format("a whole number from {} to {}", least, most));
  return n;
}

namespace {

constexpr std::uint32_t most_nodes = 1'000'000;
constexpr std::uint32_t most_tasks = 100'000'000;

// The underlying parser's sentence, under the name the user wrote.
template <class T>
tl::unexpected<base::Error> under(const Given& given, const base::Result<T>& parsed) {
  base::Error error = parsed.error();
  error.field = given.as_written;
  error.value = given.value;
  return base::fail(std::move(error));
}

base::Result<std::pair<std::uint32_t, std::uint32_t>> node_span(const Given& given, std::string_view text) {
  const auto dash = text.find('-', 1);  // one in front is a sign
  auto min = count(given, text.substr(0, dash), 1, most_nodes);
  if (!min) return base::fail(min.error());
  if (dash == std::string_view::npos) return std::pair{*min, *min};
  auto max = count(given, text.substr(dash + 1), 1, most_nodes);
  if (!max) return base::fail(max.error());
  if (*max < *min) return refuse(given, "the largest node count is below the smallest", {}, "write the smaller number first, as in 2-4");
  return std::pair{*min, *max};
}

// "gpu", "gpu:2", "gpu:a100", "gpu:a100:2" (also after "gres/" or "gres:").
base::Result<model::GresRequest> one_gres(const Given& given, std::string_view text) {
  for (const std::string_view prefix : {"gres/", "gres:"})
    if (text.substr(0, prefix.size()) == prefix) text.remove_prefix(prefix.size());
  model::GresRequest request;
  const auto colon = text.find(':');
  request.name = text.substr(0, colon);
  if (request.name.empty() || request.name.find_first_of("()=") != std::string::npos)
    return refuse(given, fmt::format("\"{}\" is not a generic resource", text), {}, "write name[:type][:count], as in gpu:a100:2");
  if (colon == std::string_view::npos) return request;
  std::string_view rest = text.substr(colon + 1);
  const auto last = rest.rfind(':');
  std::string_view number = last == std::string_view::npos ? rest : rest.substr(last + 1);
  const bool numeric = !number.empty() && number[0] >= '0' && number[0] <= '9';
  if (last != std::string_view::npos) request.type = rest.substr(0, last);
  else if (!numeric) {
    request.type = rest;
    return request;
  }
  if (request.type.find(':') != std::string::npos)
    return refuse(given, fmt::format("\"{}\" has too many parts", text), {}, "write name[:type][:count], as in gpu:a100:2");
  if (number.find('.') != std::string_view::npos)
    return refuse(given, fmt::format("{} of a device can not be had: sharing is not configured", number), "whole devices",
                  "ask for a whole number of them");
  auto n = base::parse_count(number);
  if (!n)
    return refuse(given, fmt::format("\"{}\" is not a count", number), "a whole number", "write name[:type][:count], as in gpu:a100:2");
  request.count = *n;
  return request;
}

// "4", "a100:2", "a100:2,h100:1".
base::Result<std::vector<model::GresRequest>> gpu_list(const Given& given) {
  std::vector<model::GresRequest> list;
  for (const auto& part : split_list(given.value)) {
    model::GresRequest request{"gpu", {}, 1};
    const auto colon = part.rfind(':');
    const std::string number = part.substr(colon == std::string::npos ? 0 : colon + 1);
    if (colon != std::string::npos) request.type = part.substr(0, colon);
    std::uint32_t n = 0;
    const auto [end, fault] = std::from_chars(number.data(), number.data() + number.size(), n);
    if (fault != std::errc{} || end != number.data() + number.size())
      return refuse(given, fmt::format("\"{}\" is not a number of GPUs", part), {}, "write count or type:count, as in a100:1");
    request.count = n;
    if (n > 0) list.push_back(std::move(request));
  }
  return list;
}

Done set_walltime(const Given& given, std::optional<base::Duration>& to) {
  auto span = base::parse_walltime(given.value);
  if (!span) return under(given, span);
  // Zero means "no limit", as in Slurm.
  to = !*span || **span == base::Duration::zero() ? base::Duration::max() : **span;
  return {};
}

// Within one source two kinds of memory contradict each other; a stronger source replaces a weaker one's.
Done claim_memory(SubmitRequest& request, const Given& given, bool other_given) {
  if (other_given && request.memory_from == request.now)
    return refuse(given, "--mem, --mem-per-cpu and --mem-per-gpu are mutually exclusive", {}, "keep one of them");
  request.group().memory_per_node.reset();
  request.group().memory_per_cpu.reset();
  request.memory_per_gpu.reset();
  request.memory_from = request.now;
  return {};
}

}  // namespace

Done nodes(SubmitRequest& request, const Given& given) {
  model::NodeRange range;
  const auto parts = split_list(given.value);
  const auto commas = static_cast<std::size_t>(std::count(given.value.begin(), given.value.end(), ','));
  if (parts.empty() || parts.size() != commas + 1) return refuse(given, "a node count is missing", {}, "write -N 2, -N 2-4 or -N 4,8");
  for (const auto& part : parts) {
    auto span = node_span(given, part);
    if (!span) return base::fail(span.error());
    if (parts.size() == 1) {
      range.min = span->first;
      range.max = span->second;
      break;
    }
    if (span->second - span->first + range.choices.size() > 4096) return refuse(given, "too many node counts", "4096 counts");
    for (std::uint32_t n = span->first; n <= span->second; ++n) range.choices.push_back(n);
  }
  if (!range.choices.empty()) {
    std::sort(range.choices.begin(), range.choices.end());
    range.choices.erase(std::unique(range.choices.begin(), range.choices.end()), range.choices.end());
    range.min = range.choices.front();
    range.max = range.choices.back();
  }
  request.group().nodes = std::move(range);
  request.group().nodes_given = true;
  return {};
}

Done ntasks(SubmitRequest& request, const Given& given) {
  auto n = count(given, given.value, 1, most_tasks);
  if (!n) return base::fail(n.error());
  request.group().tasks = *n;
  request.group().tasks_given = true;
  return {};
}

Done ntasks_per_node(SubmitRequest& request, const Given& given) {
  auto n = count(given, given.value, 0, 1'000'000);
  if (!n) return base::fail(n.error());
  request.group().tasks_per_node = *n;
  return {};
}

Done cpus_per_task(SubmitRequest& request, const Given& given) {
  auto n = count(given, given.value, 1, 1'000'000);
  if (!n) return base::fail(n.error());
  request.group().cpus_per_task = base::whole_cpus(*n);
  return {};
}

Done mem(SubmitRequest& request, const Given& given) {
  auto size = base::parse_memory(given.value);
  if (!size) return under(given, size);
  if (auto ok = claim_memory(request, given, request.group().memory_per_cpu || request.memory_per_gpu); !ok) return ok;
  request.group().memory_per_node = *size;
  return {};
}

Done mem_per_cpu(SubmitRequest& request, const Given& given) {
  auto size = base::parse_memory(given.value);
  if (!size) return under(given, size);
  if (auto ok = claim_memory(request, given, request.group().memory_per_node || request.memory_per_gpu); !ok) return ok;
  request.group().memory_per_cpu = *size;
  return {};
}

Done mem_per_gpu(SubmitRequest& request, const Given& given) {
  auto size = base::parse_memory(given.value);
  if (!size) return under(given, size);
  if (auto ok = claim_memory(request, given, request.group().memory_per_node || request.group().memory_per_cpu); !ok) return ok;
  request.memory_per_gpu = *size;
  return {};
}

Done gres(SubmitRequest& request, const Given& given) {
  request.gres.clear();
  if (lower(given.value) == "none") return {};
  const auto parts = split_list(given.value);
  if (parts.empty()) return refuse(given, "a generic resource is missing", {}, "write name[:type][:count], as in gpu:a100:2");
  for (const auto& part : parts) {
    auto one = one_gres(given, part);
    if (!one) return base::fail(one.error());
    if (one->count > 0) request.gres.push_back(std::move(*one));
  }
  return {};
}

Done gpus(SubmitRequest& request, const Given& given) {
  auto list = gpu_list(given);
  if (!list) return base::fail(list.error());
  request.group().gres_per_job = std::move(*list);
  return {};
}

Done gpus_per_node(SubmitRequest& request, const Given& given) {
  auto list = gpu_list(given);
  if (!list) return base::fail(list.error());
  request.gpus_per_node = std::move(*list);
  return {};
}

Done gpus_per_task(SubmitRequest& request, const Given& given) {
  auto list = gpu_list(given);
  if (!list) return base::fail(list.error());
  request.group().gres_per_task = std::move(*list);
  return {};
}

Done time(SubmitRequest& request, const Given& given) { return set_walltime(given, request.spec.time_limit); }
Done time_min(SubmitRequest& request, const Given& given) { return set_walltime(given, request.spec.time_min); }

}  // namespace sy::cli::apply
