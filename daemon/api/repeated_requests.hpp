// Remembers the answers to requests with an Idempotency-Key, so that one sent again gets the first answer (design D2).
// In memory for those under way and lately answered; in the store, with the facts, for 24 hours.
#pragma once

#include <deque>
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
  void clear() {
    entries_.clear();
    order_.clear();
  }  // memory was discarded: the store knows

 private:
  struct Entry {
    std::string digest;
    bool done{};
    base::Time expires;
    http::Response response;
    std::vector<CallPtr> waiting;   // the same request again, while the first is under way
  };
  void first(const CallPtr&, const std::string& name, const std::string& digest);
  static base::Error mismatch(const std::string& key);

  Controller& controller_;
  std::unordered_map<std::string, Entry> entries_;
  std::deque<std::string> order_;
};

}  // namespace sy::daemon
