#include "wire/agent_messages.hpp"

#include <nlohmann/json.hpp>

#include "wire/describe_state.hpp"
#include "wire/read_members.hpp"
#include "wire/write_members.hpp"

namespace sy::wire {

template <>
struct EnumNames<LaunchMessage::Role> {
  static constexpr auto names = std::to_array<std::string_view>({"lead", "member"});
};

namespace {
constexpr Limit name_limit = text_limit(256);
constexpr Limit long_text = text_limit(4096);
constexpr Limit many_nodes = list_limit(1'000'000, 1024);

void must_name_an_attempt(base::JobId job, base::AttemptNumber attempt, ReadContext& context) {
  if (job.value == 0 || attempt.value == 0) context.fail("names no attempt", {}, {}, "send job and attempt, both from 1");
}
void must_be_there(const std::string& value, std::string_view name, ReadContext& context) {
  if (!value.empty()) return;
  const auto place = context.enter(name);
  context.fail("is missing");
}
void check_capability(const Capability& capability, ReadContext& context) {
  must_name_an_attempt(capability.job, capability.attempt, context);
  must_be_there(capability.node, "node", context);
  must_be_there(capability.nonce, "nonce", context);
}
}  // namespace

void validate(LaunchMessage& m, ReadContext& context) {
  check_capability(m, context);
  must_be_there(m.user, "user", context);
}
void validate(EndMessage& m, ReadContext& context) { check_capability(m, context); }
void validate(SignalMessage& m, ReadContext& context) { check_capability(m, context); }
void validate(TimeLimitMessage& m, ReadContext& context) { check_capability(m, context); }
void validate(ForgetMessage& m, ReadContext& context) { check_capability(m, context); }
void validate(EnrolMessage& m, ReadContext& context) {
  must_be_there(m.token, "token", context);
  must_be_there(m.public_key, "public_key", context);
}
void validate(RegisterMessage& m, ReadContext& context) {
  must_be_there(m.boot_id, "boot_id", context);
  must_be_there(m.spool_id, "spool_id", context);
}
void validate(HeartbeatMessage& m, ReadContext& context) {
  must_be_there(m.boot_id, "boot_id", context);
  must_be_there(m.spool_id, "spool_id", context);
}
void validate(AttemptReport& m, ReadContext& context) { must_name_an_attempt(m.job, m.attempt, context); }
void validate(AttemptSeen& m, ReadContext& context) { must_name_an_attempt(m.job, m.attempt, context); }
void validate(AttemptName& m, ReadContext& context) { must_name_an_attempt(m.job, m.attempt, context); }

template <class A, class T>
void describe_capability(A& a) {
  a.keep_defaults();
  a("job", &T::job);
  a("attempt", &T::attempt);
  a("epoch", &T::epoch);
  a("node", &T::node, name_limit);
  a("expires_us", &T::expires);
  a("nonce", &T::nonce, name_limit);
}

template <class A>
void describe(A& a, std::type_identity<LaunchMessage>) {
  using T = LaunchMessage;
  describe_capability<A, T>(a);
  a("role", &T::role);
  a("user", &T::user, name_limit);
  a("uid", &T::uid);
  a("gid", &T::gid);
  a("groups", &T::groups, list_limit(65'536));
  a("job_name", &T::job_name);
  a("partition", &T::partition, name_limit);
  a("account", &T::account);
  a("qos", &T::qos);
  a("cluster", &T::cluster, name_limit);
  a("nodes", &T::nodes, many_nodes);
  a("nodes_text", &T::nodes_text, text_limit(16U << 20U));
  a("tasks", &T::tasks, many_nodes);
  a("rank", &T::rank);
  a("cpus", &T::cpus);
  a("cpus_of_nodes", &T::cpus_of_nodes, many_nodes);
  a("cpus_per_task", &T::cpus_per_task);
  a("memory_mib", &T::memory);
  a("gres", &T::gres, list_limit(4096));
  a("whole_node", &T::whole_node);
  a("work_dir", &T::work_dir, long_text);
  a("std_in", &T::std_in, long_text);
  a("std_out", &T::std_out, long_text);
  a("std_err", &T::std_err, long_text);
  a("append_output", &T::append_output);
  a("script_base64", &T::script_base64, text_limit(8U << 20U));
  a("environment", &T::environment, list_limit(65'536, 4U << 20U));
  a("script_args", &T::script_args, list_limit(65'536, 1U << 20U));
  a("time_limit_s", &T::time_limit);
  a("warning_signal", &T::warning_signal);
  a("kill_grace_s", &T::kill_grace);
  a("restarts", &T::restarts);
  a("submit_dir", &T::submit_dir, long_text);
  a("submit_host", &T::submit_host);
  a("prolog", &T::prolog, long_text);
  a("epilog", &T::epilog, long_text);
  a("tasks_total", &T::tasks_total);
  a("tasks_per_node", &T::tasks_per_node);
  a("memory_per_node_mib", &T::memory_per_node);
  a("memory_per_cpu_mib", &T::memory_per_cpu);
  a("placement", &T::placement);
  a("segment_size", &T::segment_size);
}

template <class A>
void describe(A& a, std::type_identity<EndMessage>) {
  using T = EndMessage;
  describe_capability<A, T>(a);
  a("grace_s", &T::grace, span_limit);
  a("why", &T::why, long_text);
}
template <class A>
void describe(A& a, std::type_identity<SignalMessage>) {
  using T = SignalMessage;
  describe_capability<A, T>(a);
  a("signal", &T::signal, range_limit(0, 64));
  a("batch_only", &T::batch_only);
  a("whole_job", &T::whole_job);
}
template <class A>
void describe(A& a, std::type_identity<TimeLimitMessage>) {
  using T = TimeLimitMessage;
  describe_capability<A, T>(a);
  a("time_limit_s", &T::time_limit, span_limit);
}
template <class A>
void describe(A& a, std::type_identity<ForgetMessage>) {
  describe_capability<A, ForgetMessage>(a);
}

template <class A>
void describe(A& a, std::type_identity<EnrolMessage>) {
  using T = EnrolMessage;
  a("token", &T::token);
  a("public_key", &T::public_key, name_limit);
}
template <class A>
void describe(A& a, std::type_identity<EnrolAnswer>) {
  using T = EnrolAnswer;
  a("node", &T::node, name_limit);
  a("cluster", &T::cluster, name_limit);
  a("controller_key", &T::controller_key, name_limit);
}

template <class A>
void describe(A& a, std::type_identity<AttemptSeen>) {
  using T = AttemptSeen;
  a.keep_defaults();
  a("job", &T::job);
  a("attempt", &T::attempt);
  a("phase", &T::phase);
}
template <class A>
void describe(A& a, std::type_identity<RegisterMessage>) {
  using T = RegisterMessage;
  a.keep_defaults();
  a("shape", &T::shape);
  a("boot_id", &T::boot_id, name_limit);
  a("spool_id", &T::spool_id, name_limit);
  a("version", &T::version, name_limit);
  a("address", &T::address, name_limit);
  a("port", &T::port);
  a("boot_time_us", &T::boot_time);
  a("labels", &T::labels, list_limit(256));
  a("attempts", &T::attempts, list_limit(100'000));
}
template <class A>
void describe(A& a, std::type_identity<AttemptName>) {
  using T = AttemptName;
  a("job", &T::job);
  a("attempt", &T::attempt);
}
template <class A>
void describe(A& a, std::type_identity<RegisterAnswer>) {
  using T = RegisterAnswer;
  a.keep_defaults();
  a("epoch", &T::epoch);
  a("heartbeat_s", &T::heartbeat);
  a("lease_s", &T::lease);
  a("fenced", &T::fenced, list_limit(100'000));
}
template <class A>
void describe(A& a, std::type_identity<HeartbeatMessage>) {
  using T = HeartbeatMessage;
  a("boot_id", &T::boot_id, name_limit);
  a("spool_id", &T::spool_id, name_limit);
}
template <class A>
void describe(A& a, std::type_identity<HeartbeatAnswer>) {
  using T = HeartbeatAnswer;
  a.keep_defaults();
  a("epoch", &T::epoch);
  a("register", &T::register_again);
}
template <class A>
void describe(A& a, std::type_identity<AttemptReport>) {
  using T = AttemptReport;
  a.keep_defaults();
  a("job", &T::job);
  a("attempt", &T::attempt);
  a("what", &T::what);
  a("blame", &T::blame);
  a("reason", &T::reason, long_text);
  a("exit", &T::exit);
  a("at_us", &T::at);
}
template <class A>
void describe(A& a, std::type_identity<ReportsMessage>) {
  a("reports", &ReportsMessage::reports, list_limit(1000));
}
template <class A>
void describe(A& a, std::type_identity<ReportName>) {
  using T = ReportName;
  a.keep_defaults();
  a("job", &T::job);
  a("attempt", &T::attempt);
  a("what", &T::what);
}
template <class A>
void describe(A& a, std::type_identity<ReportsAnswer>) {
  a.keep_defaults();
  a("acknowledged", &ReportsAnswer::acknowledged, list_limit(1000));
}

template <class Message>
std::string message_text(const Message& message) {
  std::string out;
  write_value(out, message);
  return out;
}

template <class Message>
base::Result<Message> message_from_text(std::string_view text) {
  auto json = parse_json(text);
  if (!json) return base::fail(json.error());
  return read_described<Message>(*json, Source::request);
}

#define SY_AGENT_MESSAGE(TYPE)                    \
  template std::string message_text(const TYPE&); \
  template base::Result<TYPE> message_from_text(std::string_view)
SY_AGENT_MESSAGE(LaunchMessage);
SY_AGENT_MESSAGE(EndMessage);
SY_AGENT_MESSAGE(SignalMessage);
SY_AGENT_MESSAGE(TimeLimitMessage);
SY_AGENT_MESSAGE(ForgetMessage);
SY_AGENT_MESSAGE(EnrolMessage);
SY_AGENT_MESSAGE(EnrolAnswer);
SY_AGENT_MESSAGE(RegisterMessage);
SY_AGENT_MESSAGE(RegisterAnswer);
SY_AGENT_MESSAGE(HeartbeatMessage);
SY_AGENT_MESSAGE(HeartbeatAnswer);
SY_AGENT_MESSAGE(ReportsMessage);
SY_AGENT_MESSAGE(ReportsAnswer);
#undef SY_AGENT_MESSAGE

}  // namespace sy::wire
