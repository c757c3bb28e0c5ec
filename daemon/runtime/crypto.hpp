// Small cryptographic tools: digests, base64, random tokens, comparison in constant time, Ed25519 key pairs in private files.
// Not the signed request (signing.hpp), and nothing here decides who may do what.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace sy::daemon {

std::string sha256(std::string_view bytes);      // 32 raw bytes
std::string sha256_hex(std::string_view bytes);  // 64 lower-case digits
std::string to_hex(std::string_view bytes);
std::string to_base64(std::string_view bytes);
// Strict: no white space, correct padding; nullopt otherwise.
std::optional<std::string> from_base64(std::string_view text);
// From the kernel's generator. Throws std::runtime_error when there is none.
std::string random_bytes(std::size_t count);
std::string random_hex(std::size_t bytes);
// Time depends on the lengths only, never on where the first difference is.
bool equal_in_constant_time(std::string_view a, std::string_view b);
// sha256 of the raw public key, first 32 hex digits. Empty when `public_key` is no Ed25519 key in base64.
std::string key_fingerprint(std::string_view public_key);

// An Ed25519 key pair. The private half never leaves this class but into its file.
class KeyPair {
 public:
  static KeyPair generate();
  // Refuses files that others can read or write, that are links, or that belong to somebody else (but root).
  static base::Result<KeyPair> load(const std::string& path);
  // Creates the file exclusively, 0600, synced with its folder; an existing one is a conflict.
  base::Result<void> save(const std::string& path) const;
  // Loads it, or makes one and saves it.
  static base::Result<KeyPair> load_or_create(const std::string& path);

  const std::string& public_key() const { return public_key_; }  // base64 of the 32 raw bytes
  std::string sign(std::string_view message) const;              // base64 of the 64 raw bytes

 private:
  explicit KeyPair(std::shared_ptr<void> key);
  std::shared_ptr<void> key_;  // EVP_PKEY
  std::string public_key_;
};

bool verify_signature(std::string_view public_key, std::string_view message, std::string_view signature);

}  // namespace sy::daemon
