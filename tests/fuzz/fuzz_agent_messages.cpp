// The bodies that controller and agents exchange. What is read writes as text that reads and writes as the same.
#include <string>
#include <type_traits>

#include "fuzz/fuzz.hpp"
#include "wire/agent_messages.hpp"

using namespace sy;

namespace {

template <class Message>
void round_trip(std::string_view input) {
  const auto message = wire::message_from_text<Message>(input);
  if (!message) {
    FUZZ_CHECK(!message.error().message.empty());
    return;
  }
  const std::string text = wire::message_text(*message);
  const auto back = wire::message_from_text<Message>(text);
  FUZZ_CHECK(back.has_value());
  FUZZ_CHECK(wire::message_text(*back) == text);
  if constexpr (std::is_base_of_v<wire::Capability, Message>) FUZZ_PLANT(message->job.value > 1);
}

}  // namespace

void sy::fuzz::fuzz_one(std::string_view input) {
  round_trip<wire::LaunchMessage>(input);
  round_trip<wire::EndMessage>(input);
  round_trip<wire::SignalMessage>(input);
  round_trip<wire::TimeLimitMessage>(input);
  round_trip<wire::ForgetMessage>(input);
  round_trip<wire::EnrolMessage>(input);
  round_trip<wire::EnrolAnswer>(input);
  round_trip<wire::RegisterMessage>(input);
  round_trip<wire::RegisterAnswer>(input);
  round_trip<wire::HeartbeatAnswer>(input);
  round_trip<wire::ReportsMessage>(input);
  round_trip<wire::ReportsAnswer>(input);
  round_trip<wire::HeartbeatMessage>(input);
}
