#include <fmt/format.h>

#include <array>

#include "base/features.hpp"
#include "base/hostlist.hpp"
#include "base/option_table.hpp"
#include "base/time_text.hpp"
#include "cli/submit/apply.hpp"
#include "cli/text.hpp"

namespace sy::cli::apply {

namespace {

// "rack", "nvl-72": what topologies call their levels.
base::Result<std::string> level_name(const Given& given, std::string_view text) {
  static constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
  if (text.empty() || text.find_first_not_of(letters) != std::string_view::npos)
    return refuse(given, fmt::format("\"{}\" is not the name of a level", text), {}, "write a level's name, as in rack or block");
  return std::string{text};
}

Done node_names(const Given& given, std::string& to) {
  if (given.value.find('/') != std::string::npos)
    return refuse(given, "node names can not be read from a file", {}, "write the names themselves, as in n[1-4]");
  if (auto names = base::expand_hostlist(given.value); !names) {
    base::Error error = names.error();
    error.field = given.as_written;
    error.value = given.value;
    return base::fail(std::move(error));
  }
  to = given.value;
  return {};
}

// Splits "8@nvlink" at the last '@'; refuses an '@' with nothing behind it.
base::Result<std::pair<std::string_view, std::string_view>> at_sign(const Given& given, std::string_view text, std::string hint) {
  const auto at = text.rfind('@');
  if (at == std::string_view::npos) return std::pair{text, std::string_view{}};
  if (trim(text.substr(at + 1)).empty())
    return refuse(given, "nothing is written behind the @", {}, fmt::format("{}, or leave the @ out", hint));
  return std::pair{text.substr(0, at), trim(text.substr(at + 1))};
}

// As split_list, but a part that is empty is a slip of the pen and is refused.
base::Result<std::vector<std::string>> whole_parts(const Given& given, std::string_view text, char separator, std::string hint) {
  if (trim(text).empty()) return refuse(given, "nothing is written here", {}, std::move(hint));
  std::vector<std::string> parts;
  for (bool more = true; more;) {
    const auto end = text.find(separator);
    parts.emplace_back(trim(text.substr(0, end)));
    if (parts.back().empty())
      return refuse(given, fmt::format("part {} is empty: a '{}' too many?", parts.size(), separator), {}, std::move(hint));
    more = end != std::string_view::npos;
    if (more) text.remove_prefix(end + 1);
  }
  return parts;
}

constexpr std::string_view ladder_hint = "write them from narrow to wide, as in rack@10m,block@1h,any";

base::Result<base::Duration> wait_of(const Given& given, std::string_view text) {
  if (auto span = base::parse_span(text)) return *span;
  auto walltime = base::parse_walltime(text);
  if (!walltime || !*walltime)
    return refuse(given, fmt::format("\"{}\" is not a time to wait", text), {}, "write a span, as in 10m, 1h or 30:00");
  return **walltime;
}

void renew(Source& from, Source now, auto& list) {
  if (from != now) list.clear();
  from = now;
}

template <class E, std::size_t N>
base::Result<E> one_of(const Given& given, const std::array<std::pair<std::string_view, E>, N>& known) {
  std::string word = lower(given.value);
  for (char& c : word)
    if (c == '-') c = '_';
  std::vector<std::string> names;
  for (const auto& [name, value] : known) {
    if (name == word) return value;
    names.emplace_back(name);
  }
  const std::string near = base::nearest(word, names);
  return refuse(given, fmt::format("\"{}\" is not known here", given.value), join(names, ", "),
                near.empty() ? std::string{} : fmt::format("did you mean {}?", near));
}

}  // namespace

Done partition(SubmitRequest& request, const Given& given) {
  request.spec.partitions = split_list(given.value);
  if (request.spec.partitions.empty()) return refuse(given, "a partition's name is missing");
  return {};
}

Done constraint(SubmitRequest& request, const Given& given) {
  if (auto features = base::parse_features(given.value); !features) {
    base::Error error = features.error();
    error.field = given.as_written;
    error.value = given.value;
    return base::fail(std::move(error));
  }
  request.group().constraint = given.value;
  return {};
}

Done nodelist(SubmitRequest& request, const Given& given) { return node_names(given, request.group().nodelist); }
Done exclude(SubmitRequest& request, const Given& given) { return node_names(given, request.group().exclude); }

Done exclusive(SubmitRequest& request, const Given& given) {
  auto& group = request.group();
  const std::string scope = lower(given.value);
  if (scope.empty()) group.sharing = model::Sharing::exclusive_node;
  else if (scope == "user") group.sharing = model::Sharing::exclusive_user;
  else if (scope == "mcs")
    return base::fail(base::Error{base::Code::unsupported, "multi-category security is not carried out by this release", given.as_written,
                                  "user, topo", given.value, "write --exclusive or --exclusive=user"});
  else if (scope == "topo") group.exclusive_level = "topo";
  else {
    if (!request.ours) return refuse(given, fmt::format("\"{}\" is not a way to be exclusive", given.value), "nothing, user, topo");
    auto level = level_name(given, given.value);
    if (!level) return base::fail(level.error());
    group.exclusive_level = std::move(*level);
  }
  return {};
}

Done oversubscribe(SubmitRequest& request, const Given&) {
  request.group().sharing = model::Sharing::shared;
  return {};
}

Done contiguous(SubmitRequest& request, const Given&) {
  request.group().contiguous = true;
  return {};
}

Done switches(SubmitRequest& request, const Given& given) {
  const auto parts = at_sign(given, given.value, "write n@minutes, as in 1@360");
  if (!parts) return base::fail(parts.error());
  const auto [number, wait] = *parts;
  auto n = count(given, number, 1, 65'535);
  if (!n) return base::fail(n.error());
  std::optional<base::Duration> span;
  if (!wait.empty()) {
    auto walltime = base::parse_walltime(wait);
    if (!walltime || !*walltime)
      return refuse(given, fmt::format("\"{}\" is not a time to wait", wait), {}, "write n@minutes, as in 1@360");
    span = **walltime;
  }
  request.group().switches = *n;
  request.group().switches_wait = span;
  return {};
}

Done segment(SubmitRequest& request, const Given& given) {
  renew(request.segments_from, request.now, request.group().segments);
  const auto parts = at_sign(given, given.value, "write n@level, as in 8@rack");
  if (!parts) return base::fail(parts.error());
  const auto [number, level] = *parts;
  model::Segment segment;
  auto n = count(given, number, 1, 1'000'000);
  if (!n) return base::fail(n.error());
  segment.size = *n;
  if (!level.empty()) {
    auto name = level_name(given, level);
    if (!name) return base::fail(name.error());
    segment.level = std::move(*name);
  }
  request.group().segments.push_back(std::move(segment));
  return {};
}

Done sizes(SubmitRequest& request, const Given& given) {
  renew(request.segments_from, request.now, request.group().segments);
  const std::string hint = "write them with commas, as in 1,3,4@rack";
  const auto halves = at_sign(given, given.value, hint);
  if (!halves) return base::fail(halves.error());
  const auto [numbers, level] = *halves;
  const auto parts = whole_parts(given, numbers, ',', hint);
  if (!parts) return base::fail(parts.error());
  model::Segment segment;
  for (const auto& part : *parts) {
    auto n = count(given, part, 1, 1'000'000);
    if (!n) return base::fail(n.error());
    segment.sizes.push_back(*n);
  }
  if (!level.empty()) {
    auto name = level_name(given, level);
    if (!name) return base::fail(name.error());
    segment.level = std::move(*name);
  }
  request.group().segments.push_back(std::move(segment));
  return {};
}

Done spread_segments(SubmitRequest& request, const Given&) {
  request.spread_segments = true;
  return {};
}
Done consolidate_segments(SubmitRequest& request, const Given&) {
  request.consolidate_segments = true;
  return {};
}

// The first word of "node:socket:core" decides where ranks go; the text is kept whole.
Done distribution(SubmitRequest& request, const Given& given) {
  const auto parts = split_list(std::string_view{given.value}.substr(0, given.value.find(',')), ':');
  const std::string first = parts.empty() ? std::string{} : lower(parts.front());
  auto& group = request.group();
  group.plane_size = 0;
  if (first == "block") group.distribution = model::Distribution::block;
  else if (first == "cyclic") group.distribution = model::Distribution::cyclic;
  else if (first == "arbitrary") group.distribution = model::Distribution::arbitrary;
  else if (first == "*") group.distribution = model::Distribution::unset;
  else if (first.rfind("plane", 0) == 0) {
    auto size = count(given, first.size() > 6 ? std::string_view{first}.substr(6) : std::string_view{}, 1, 1'000'000);
    if (!size) return base::fail(size.error());
    group.distribution = model::Distribution::plane;
    group.plane_size = *size;
  } else {
    return refuse(given, fmt::format("\"{}\" is not a distribution", given.value),
                  "block, cyclic, plane=SIZE, arbitrary, *, each with :socket:core");
  }
  for (std::size_t i = 1; i < parts.size(); ++i)
    if (const std::string word = lower(parts[i]); word != "block" && word != "cyclic" && word != "fcyclic" && word != "*")
      return refuse(given, fmt::format("\"{}\" is not a distribution inside a node", parts[i]), "block, cyclic, fcyclic, *");
  request.spec.annotations.edit().distribution = given.value;
  return {};
}

Done within(SubmitRequest& request, const Given& given) {
  auto level = level_name(given, given.value);
  if (!level) return base::fail(level.error());
  request.group().pack.require = std::move(*level);
  return {};
}

Done near(SubmitRequest& request, const Given& given) {
  auto level = level_name(given, given.value);
  if (!level) return base::fail(level.error());
  request.group().pack.prefer = std::move(*level);
  return {};
}

// "rack@10m,block@1h,any"; "rack*2" allows two of them.
Done ladder(SubmitRequest& request, const Given& given) {
  const auto parts = whole_parts(given, given.value, ',', std::string{ladder_hint});
  if (!parts) return base::fail(parts.error());
  std::vector<model::Rung> rungs;
  for (const auto& part : *parts) {
    model::Rung rung;
    const auto halves = at_sign(given, part, "write level@wait, as in rack@10m");
    if (!halves) return base::fail(halves.error());
    auto [name, wait] = *halves;
    if (const auto star = name.find('*'); star != std::string_view::npos) {
      auto n = count(given, name.substr(star + 1), 1, 1'000'000);
      if (!n) return base::fail(n.error());
      rung.max_domains = *n;
      name = name.substr(0, star);
    }
    auto level = level_name(given, name);
    if (!level) return base::fail(level.error());
    rung.level = std::move(*level);
    if (!wait.empty()) {
      auto span = wait_of(given, wait);
      if (!span) return base::fail(span.error());
      rung.wait = *span;
    }
    rungs.push_back(std::move(rung));
  }
  request.group().pack.ladder = std::move(rungs);
  return {};
}

// "rack", "rack:max=2", "rack:share=50%", "rack:min=3", "rack:skew=1", "rack:prefer".
Done spread(SubmitRequest& request, const Given& given) {
  renew(request.spread_from, request.now, request.group().spread);
  const auto parts = whole_parts(given, given.value, ':', "write --spread rack, rack:max=2 or rack:share=50%");
  if (!parts) return base::fail(parts.error());
  model::Spread wish;
  bool first = true;
  for (const auto& part : *parts) {
    if (std::exchange(first, false)) {
      auto level = level_name(given, part);
      if (!level) return base::fail(level.error());
      wish.level = std::move(*level);
      continue;
    }
    const auto equals = part.find('=');
    const std::string key = lower(part.substr(0, equals));
    std::string number = equals == std::string::npos ? std::string{} : part.substr(equals + 1);
    if (key == "prefer" && number.empty()) {
      wish.mode = model::Spread::Mode::prefer;
      continue;
    }
    if (key == "share" && !number.empty() && number.back() == '%') number.pop_back();
    auto n = count(given, number, 1, key == "share" ? 100 : 1'000'000);
    if (!n) return base::fail(n.error());
    if (key == "max") wish.max_per_domain = *n;
    else if (key == "share") wish.max_share = *n;
    else if (key == "min") wish.min_domains = *n;
    else if (key == "skew") wish.max_skew = *n;
    else return refuse(given, fmt::format("\"{}\" is not a way to spread", part), "max=N, share=P%, min=N, skew=N, prefer");
  }
  request.group().spread.push_back(std::move(wish));
  return {};
}

Done order(SubmitRequest& request, const Given& given) {
  using enum model::PackOrder;
  static constexpr std::array<std::pair<std::string_view, model::PackOrder>, 5> known{{{"automatic", automatic},
                                                                                       {"own_first", own_first},
                                                                                       {"parent_first", parent_first},
                                                                                       {"fullest", fullest},
                                                                                       {"least_growth", least_growth}}};
  auto value = one_of(given, known);
  if (!value) return base::fail(value.error());
  request.group().pack.order = *value;
  return {};
}

Done fill(SubmitRequest& request, const Given& given) {
  using enum model::PackFill;
  static constexpr std::array<std::pair<std::string_view, model::PackFill>, 4> known{
      {{"best_fit", best_fit}, {"pack_parents", pack_parents}, {"least_free", least_free}, {"balanced", balanced}}};
  auto value = one_of(given, known);
  if (!value) return base::fail(value.error());
  request.group().pack.fill = *value;
  return {};
}

}  // namespace sy::cli::apply
