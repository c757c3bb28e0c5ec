// Signed requests between controller and agents: Ed25519 over method, path, time, nonce, sender, receiver and body hash.
// Not who may do what: a verified sender is a fact that the handlers judge. The scheme is that of docs/api-v1.md "Agents".
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/result.hpp"
#include "base/time.hpp"
#include "daemon/runtime/crypto.hpp"

namespace sy::daemon {

inline constexpr std::string_view header_key = "X-Switchyard-Key";
inline constexpr std::string_view header_time = "X-Switchyard-Time";
inline constexpr std::string_view header_nonce = "X-Switchyard-Nonce";
inline constexpr std::string_view header_signature = "X-Switchyard-Signature";
inline constexpr base::Duration signature_window = std::chrono::seconds{60};

// The four headers, as they travel.
struct SignatureHeaders {
  std::string key;        // who signs: "controller" or a node's name
  std::string time;       // microseconds since 1970, decimal
  std::string nonce;      // 32 hex digits
  std::string signature;  // base64
};
// What is signed besides the headers.
struct SignedParts {
  std::string_view method;
  std::string_view target;  // path and query, as in the request line
  std::string_view body;
  std::string_view to;      // receiver: "controller" or the node's name
};

SignatureHeaders sign_request(const KeyPair&, std::string key_name, const SignedParts&, base::Time now);

// Nonces that were accepted, until their window is over. Bounded per sender: a full one refuses, it never forgets early.
class NonceCache {
 public:
  NonceCache() = default;
  explicit NonceCache(std::size_t limit_per_key) : limit_(limit_per_key) {}
  // Refuses a nonce seen before (unauthenticated) and one too many (too_many).
  base::Result<void> remember(const std::string& key, const std::string& nonce, base::Time expires, base::Time now);
  std::size_t size() const { return by_expiry_.size(); }

 private:
  struct Seen {
    std::string key, nonce;
  };
  std::size_t limit_{100'000};
  std::unordered_map<std::string, std::unordered_set<std::string>> seen_;
  std::multimap<base::Time, Seen> by_expiry_;
};

// Form and window first, then the signature, and only then the nonce, so that strangers can not fill the cache.
// Errors: unauthenticated (with which part was wrong), too_many.
base::Result<void> check_signature(std::string_view public_key, const SignatureHeaders&, const SignedParts&, base::Time now, NonceCache&);

}  // namespace sy::daemon
