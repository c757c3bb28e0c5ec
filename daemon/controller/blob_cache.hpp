// Scripts and environments lately used, so that a job that starts soon after its submission costs no disk read.
// Not the truth: that is the store. Bounded in bytes; what was used longest ago goes first.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/result.hpp"
#include "daemon/runtime/worker.hpp"
#include "daemon/store/store.hpp"

namespace sy::daemon {

using BlobText = std::shared_ptr<const std::string>;

class BlobCache {
 public:
  BlobCache(Store& store, Worker& worker, std::size_t max_bytes = 64U << 20U) : store_(store), worker_(worker), max_bytes_(max_bytes) {}
  void put(const std::string& digest, BlobText);
  // Calls back at once when it is here, later when it has to be read. Null: the store has none of that digest.
  void get(const std::string& digest, std::function<void(BlobText)>);
  std::size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    std::string digest;
    BlobText text;
  };
  Store& store_;
  Worker& worker_;
  std::size_t max_bytes_;
  std::size_t bytes_{};
  std::list<Entry> entries_;  // used last at the front
  std::unordered_map<std::string, std::list<Entry>::iterator> by_digest_;
};

}  // namespace sy::daemon
