#include "daemon/runtime/signing.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace sy::daemon {

using base::Code;
using base::fail;

namespace {

constexpr std::size_t nonce_bytes = 16;

// Every field but the body hash is free of newlines (checked on receipt), so no two requests give one text.
std::string text_to_sign(const SignatureHeaders& h, const SignedParts& p) {
  std::string out;
  const std::string digest = sha256_hex(p.body);
  for (const std::string_view part :
       {p.method, p.target, std::string_view{h.time}, std::string_view{h.nonce}, std::string_view{h.key}, p.to}) {
    out += part;
    out += '\n';
  }
  return out + digest;
}

bool has_newline(std::string_view s) { return s.find('\n') != std::string_view::npos; }

bool well_formed_nonce(std::string_view nonce) {
  return nonce.size() == 2 * nonce_bytes &&
         std::all_of(nonce.begin(), nonce.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::optional<base::Time> parse_micros(std::string_view text) {
  std::int64_t us = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), us);
  // Up to the year 2255: differences of two such times can not overflow.
  if (error != std::errc{} || end != text.data() + text.size() || us < 0 || us > 9'000'000'000'000'000) return std::nullopt;
  return base::time_from_micros(us);
}

}  // namespace

SignatureHeaders sign_request(const KeyPair& pair, std::string key_name, const SignedParts& parts, base::Time now) {
  SignatureHeaders h{std::move(key_name), std::to_string(base::micros(now)), random_hex(nonce_bytes), {}};
  h.signature = pair.sign(text_to_sign(h, parts));
  return h;
}

base::Result<void> NonceCache::remember(const std::string& key, const std::string& nonce, base::Time expires, base::Time now) {
  for (auto oldest = by_expiry_.begin(); oldest != by_expiry_.end() && oldest->first < now; oldest = by_expiry_.erase(oldest)) {
    const auto of_key = seen_.find(oldest->second.key);
    of_key->second.erase(oldest->second.nonce);
    if (of_key->second.empty()) seen_.erase(of_key);
  }
  auto& of_key = seen_[key];
  if (of_key.contains(nonce)) return fail(Code::unauthenticated, "this request was seen before", std::string{header_nonce}, nonce);
  if (of_key.size() >= limit_) {
    if (of_key.empty()) seen_.erase(key);
    return fail(
        {Code::too_many, "too many requests within two minutes", std::string{header_key}, std::to_string(limit_), key, "wait a minute"});
  }
  of_key.insert(nonce);
  by_expiry_.emplace(expires, Seen{key, nonce});
  return {};
}

base::Result<void> check_signature(std::string_view public_key, const SignatureHeaders& h, const SignedParts& parts, base::Time now,
                                   NonceCache& nonces) {
  if (h.key.empty() || h.time.empty() || h.nonce.empty() || h.signature.empty())
    return fail(Code::unauthenticated, "the request is not signed", std::string{header_signature});
  if (has_newline(parts.method) || has_newline(parts.target) || has_newline(h.key) || has_newline(parts.to))
    return fail(Code::unauthenticated, "a signed field holds a line break", std::string{header_signature});
  if (!well_formed_nonce(h.nonce)) return fail(Code::unauthenticated, "the nonce is not 32 hexadecimal digits", std::string{header_nonce});
  const auto time = parse_micros(h.time);
  if (!time) return fail(Code::unauthenticated, "the time is not a number of microseconds", std::string{header_time});
  const base::Duration off = *time > now ? *time - now : now - *time;
  if (off > signature_window)
    return fail({Code::unauthenticated, "the request was signed too long ago or in the future", std::string{header_time},
                 "60 s from this clock", std::to_string(base::to_seconds(now - *time)) + " s ago",
                 "synchronise the clocks of controller and nodes"});
  if (!verify_signature(public_key, text_to_sign(h, parts), h.signature))
    return fail(Code::unauthenticated, "the signature does not fit the request", std::string{header_signature}, h.key);
  return nonces.remember(h.key, h.nonce, *time + signature_window, now);
}

}  // namespace sy::daemon
