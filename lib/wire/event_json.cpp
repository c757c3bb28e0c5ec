#include "wire/event_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "wire/describe_event.hpp"
#include "wire/read_members.hpp"
#include "wire/write_members.hpp"

namespace sy::wire {

namespace {

// In the order of core::Fact.
constexpr auto kinds =
    std::to_array<std::string_view>({"job_submitted", "job_updated",        "job_held",           "job_released",    "job_started",
                                     "node_accepted", "script_started",     "time_limit_changed", "end_asked",       "script_ended",
                                     "node_cleared",  "job_lost",           "job_found",          "attempt_ended",   "job_requeued",
                                     "job_ended",     "job_forgotten",      "signal_sent",        "configured",      "topology_imported",
                                     "epoch_began",   "enrol_token_issued", "node_enrolled",      "node_registered", "node_contact_changed",
                                     "node_drained",  "node_resumed",       "node_downed",        "node_fenced",     "node_removed",
                                     "plan_applied"});
static_assert(kinds.size() == std::variant_size_v<core::Fact>, "every fact has a kind");

using Reader = base::Result<core::Fact> (*)(const Json&);

template <std::size_t I>
base::Result<core::Fact> read_alternative(const Json& json) {
  using T = std::variant_alternative_t<I, core::Fact>;
  auto fact = read_described<T>(json, Source::stored, std::string{kinds[I]});
  if (!fact) return base::fail(fact.error());
  return core::Fact{std::in_place_index<I>, std::move(*fact)};
}

template <std::size_t... I>
constexpr std::array<Reader, sizeof...(I)> all_readers(std::index_sequence<I...>) {
  return {&read_alternative<I>...};
}

constexpr auto readers = all_readers(std::make_index_sequence<kinds.size()>{});

}  // namespace

std::string_view fact_kind(const core::Fact& fact) { return kinds[fact.index()]; }

std::string fact_text(const core::Fact& fact) {
  std::string out;
  std::visit([&](const auto& f) { write_object(out, f); }, fact);
  return out;
}

base::Result<core::Fact> fact_from_text(std::string_view kind, int version, std::string_view text) {
  if (version < 1 || version > event_version)
    return base::fail(base::Code::unsupported,
                      fmt::format("an event of version {} can not be read: this release knows up to {}", version, event_version));
  const auto it = std::find(kinds.begin(), kinds.end(), kind);
  if (it == kinds.end()) return base::fail(base::Code::unsupported, "an event of an unknown kind", "kind", std::string{kind});
  auto json = parse_json(text);
  if (!json) return base::fail(json.error());
  return readers[static_cast<std::size_t>(it - kinds.begin())](*json);
}

void append_event(std::string& out, const core::Event& event) {
  out += "{\"sequence\":";
  append_unsigned(out, event.sequence.value);
  out += ",\"at_us\":";
  append_integer(out, base::micros(event.at));
  out += ",\"by\":";
  append_quoted(out, event.by);
  out += ",\"kind\":";
  append_quoted(out, fact_kind(event.fact));
  out += ",\"version\":";
  append_integer(out, event_version);
  out += ",\"fact\":";
  out += fact_text(event.fact);
  out += '}';
}

}  // namespace sy::wire
