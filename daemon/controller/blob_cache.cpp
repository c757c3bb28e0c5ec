#include "daemon/controller/blob_cache.hpp"

#include "daemon/runtime/log.hpp"

namespace sy::daemon {

void BlobCache::put(const std::string& digest, BlobText text) {
  if (const auto at = by_digest_.find(digest); at != by_digest_.end()) {
    entries_.splice(entries_.begin(), entries_, at->second);
    return;
  }
  if (text->size() > max_bytes_ / 4) return;  // one of them must not empty the cache
  bytes_ += text->size();
  entries_.push_front({digest, std::move(text)});
  by_digest_[digest] = entries_.begin();
  while (bytes_ > max_bytes_) {
    bytes_ -= entries_.back().text->size();
    by_digest_.erase(entries_.back().digest);
    entries_.pop_back();
  }
}

void BlobCache::get(const std::string& digest, std::function<void(BlobText)> then) {
  if (const auto at = by_digest_.find(digest); at != by_digest_.end()) {
    entries_.splice(entries_.begin(), entries_, at->second);
    then(at->second->text);
    return;
  }
  auto found = std::make_shared<BlobText>();
  worker_.run(
      [this, digest, found] {
        try {
          if (auto bytes = store_.blob(digest)) *found = std::make_shared<const std::string>(std::move(*bytes));
        } catch (const std::exception& e) { log_error("a script or environment can not be read: {}", e.what()); }
      },
      [this, digest, found, then = std::move(then)] {
        if (*found) put(digest, *found);
        then(*found);
      });
}

}  // namespace sy::daemon
