// Remembers the answers to requests with an Idempotency-Key, so that one sent again gets the first answer (design D2).
// In memory until the answer is on disk; in the store, with the facts, for 24 hours.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "daemon/api/call.hpp"

namespace sy::daemon {

class RepeatedRequests {
 public:
  explicit RepeatedRequests(Controller& controller) : controller_(controller) {}
  // True: the call has been (or will be) answered here. False: it is new, and its answer will be remembered.
  bool answer(const CallPtr&);
  void stored(const std::vector<StoredReply>&);  // the store knows them from now on
  void clear() { entries_.clear(); }             // memory was discarded: the store knows what there is

 private:
  struct Entry {
    std::string digest;
    bool done{};
    http::Response response;
    std::vector<CallPtr> waiting;   // the same request again, while the first is under way
  };
  void first(const CallPtr&, const std::string& name, const std::string& digest);
  static base::Error mismatch(const std::string& key);

  Controller& controller_;
  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace sy::daemon
