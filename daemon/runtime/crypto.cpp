#include "daemon/runtime/crypto.hpp"

#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace sy::daemon {

using base::Code;
using base::fail;

namespace {

constexpr std::size_t key_bytes = 32;
constexpr std::size_t signature_bytes = 64;
constexpr std::size_t largest_key_file = 4096;

const unsigned char* raw(std::string_view s) { return reinterpret_cast<const unsigned char*>(s.data()); }
unsigned char* raw(std::string& s) { return reinterpret_cast<unsigned char*>(s.data()); }

struct Descriptor {
  int fd;
  explicit Descriptor(int f) : fd(f) {}
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
};

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

base::Error file_error(const std::string& what, const std::string& path) {
  return {Code::unavailable, what + ": " + std::strerror(errno), "key file", {}, path, {}};
}

using ContextPtr = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;
ContextPtr new_context() { return {EVP_MD_CTX_new(), &EVP_MD_CTX_free}; }

}  // namespace

std::string sha256(std::string_view bytes) {
  std::string out(SHA256_DIGEST_LENGTH, '\0');
  SHA256(raw(bytes), bytes.size(), raw(out));
  return out;
}

std::string to_hex(std::string_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto b = static_cast<unsigned char>(c);
    out += digits[b >> 4];
    out += digits[b & 15];
  }
  return out;
}

std::string sha256_hex(std::string_view bytes) { return to_hex(sha256(bytes)); }

std::string to_base64(std::string_view bytes) {
  std::string out(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // EncodeBlock ends with a NUL
  const int n = EVP_EncodeBlock(raw(out), raw(bytes), static_cast<int>(bytes.size()));
  out.resize(static_cast<std::size_t>(n));
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  if (text.empty()) return std::string{};
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  for (const char c : text.substr(0, text.size() - padding)) {
    const bool known = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
    if (!known) return std::nullopt;  // EVP_DecodeBlock would trim white space
  }
  std::string out(text.size() / 4 * 3, '\0');
  if (EVP_DecodeBlock(raw(out), raw(text), static_cast<int>(text.size())) < 0) return std::nullopt;
  out.resize(out.size() - padding);
  return out;
}

std::string random_bytes(std::size_t count) {
  std::string out(count, '\0');
  if (RAND_bytes(raw(out), static_cast<int>(count)) != 1) throw std::runtime_error("no random numbers from the system");
  return out;
}

std::string random_hex(std::size_t bytes) { return to_hex(random_bytes(bytes)); }

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string key_fingerprint(std::string_view public_key) {
  const auto bytes = from_base64(public_key);
  if (!bytes || bytes->size() != key_bytes) return {};
  return sha256_hex(*bytes).substr(0, 32);
}

KeyPair::KeyPair(std::shared_ptr<void> key) : key_(std::move(key)) {
  std::string bytes(key_bytes, '\0');
  std::size_t size = key_bytes;
  if (EVP_PKEY_get_raw_public_key(static_cast<EVP_PKEY*>(key_.get()), raw(bytes), &size) != 1 || size != key_bytes)
    throw std::runtime_error("not an Ed25519 key");
  public_key_ = to_base64(bytes);
}

KeyPair KeyPair::generate() {
  EVP_PKEY* key = EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
  if (key == nullptr) throw std::runtime_error("could not make an Ed25519 key");
  return KeyPair{std::shared_ptr<void>(key, [](void* k) { EVP_PKEY_free(static_cast<EVP_PKEY*>(k)); })};
}

base::Result<KeyPair> KeyPair::load(const std::string& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
  if (file.fd < 0) {
    auto e = file_error("could not open the key", path);
    if (errno == ENOENT) e.code = Code::not_found;
    return fail(std::move(e));
  }
  struct stat s{};
  if (::fstat(file.fd, &s) != 0) return fail(file_error("could not look at the key", path));
  if (!S_ISREG(s.st_mode)) return fail(Code::forbidden, "the key is not a plain file", "key file", path);
  if ((s.st_mode & 077) != 0)
    return fail(Code::forbidden, "others may read or write the key", "key file", path,
                "chmod 600 " + path + ", and make a new key if others had access");
  if (s.st_uid != ::geteuid() && s.st_uid != 0)
    return fail(Code::forbidden, "the key belongs to another user", "key file", path, "chown it to the user of this daemon");
  std::string text(largest_key_file, '\0');
  const ssize_t n = ::read(file.fd, text.data(), text.size());
  if (n < 0) return fail(file_error("could not read the key", path));
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio{BIO_new_mem_buf(text.data(), static_cast<int>(n)), &BIO_free};
  EVP_PKEY* key = PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr);
  OPENSSL_cleanse(text.data(), text.size());
  if (key == nullptr || EVP_PKEY_get_id(key) != EVP_PKEY_ED25519) {
    EVP_PKEY_free(key);
    return fail(Code::invalid_argument, "the file holds no Ed25519 private key", "key file", path);
  }
  return KeyPair{std::shared_ptr<void>(key, [](void* k) { EVP_PKEY_free(static_cast<EVP_PKEY*>(k)); })};
}

base::Result<void> KeyPair::save(const std::string& path) const {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio{BIO_new(BIO_s_mem()), &BIO_free};
  if (PEM_write_bio_PrivateKey(bio.get(), static_cast<EVP_PKEY*>(key_.get()), nullptr, nullptr, 0, nullptr, nullptr) != 1)
    throw std::runtime_error("could not write the key as PEM");
  char* text = nullptr;
  const auto size = static_cast<std::size_t>(BIO_get_mem_data(bio.get(), &text));
  const Descriptor folder{::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (folder.fd < 0) return fail(file_error("could not open the folder of the key", path));
  const Descriptor file{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
  if (file.fd < 0) {
    auto e = file_error("could not create the key", path);
    if (errno == EEXIST) e.code = Code::conflict;
    return fail(std::move(e));
  }
  const bool written = ::write(file.fd, text, size) == static_cast<ssize_t>(size) && ::fsync(file.fd) == 0 && ::fsync(folder.fd) == 0;
  OPENSSL_cleanse(text, size);
  if (!written) {
    auto e = file_error("could not write the key", path);
    ::unlink(path.c_str());
    return fail(std::move(e));
  }
  return {};
}

base::Result<KeyPair> KeyPair::load_or_create(const std::string& path) {
  auto loaded = load(path);
  if (loaded || loaded.error().code != Code::not_found) return loaded;
  KeyPair made = generate();
  if (const auto saved = made.save(path); !saved) {
    if (saved.error().code == Code::conflict) return load(path);  // another process was quicker
    return fail(saved.error());
  }
  return made;
}

std::string KeyPair::sign(std::string_view message) const {
  const auto context = new_context();
  std::string out(signature_bytes, '\0');
  std::size_t size = out.size();
  if (EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, static_cast<EVP_PKEY*>(key_.get())) != 1 ||
      EVP_DigestSign(context.get(), raw(out), &size, raw(message), message.size()) != 1)
    throw std::runtime_error("could not sign");
  return to_base64(out);
}

bool verify_signature(std::string_view public_key, std::string_view message, std::string_view signature) {
  const auto key_raw = from_base64(public_key);
  const auto signature_raw = from_base64(signature);
  if (!key_raw || key_raw->size() != key_bytes || !signature_raw || signature_raw->size() != signature_bytes) return false;
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key{
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, raw(*key_raw), key_raw->size()), &EVP_PKEY_free};
  if (!key) return false;
  const auto context = new_context();
  return EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(context.get(), raw(*signature_raw), signature_raw->size(), raw(message), message.size()) == 1;
}

}  // namespace sy::daemon
