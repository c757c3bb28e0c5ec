#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "daemon/runtime/signing.hpp"
#include "support/catch.hpp"

using namespace sy;
using namespace sy::daemon;
using base::Code;

namespace {

struct TempFolder {
  std::string path;
  TempFolder() {
    char name[] = "/tmp/switchyard-signing-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~TempFolder() {
    ::unlink((path + "/key").c_str());
    ::unlink((path + "/link").c_str());
    ::rmdir(path.c_str());
  }
};

const base::Time now = base::time_from_seconds(1'700'000'000);
const SignedParts parts{"POST", "/v1/launch?x=1", R"({"job":1})", "n1"};

struct Signed {
  KeyPair pair = KeyPair::generate();
  SignatureHeaders headers = sign_request(pair, "controller", parts, now);
  NonceCache nonces;
  base::Result<void> check(const SignedParts& p, base::Time at = now) { return check_signature(pair.public_key(), headers, p, at, nonces); }
};

}  // namespace

TEST_CASE("a signed request is accepted once and only once") {
  Signed s;
  REQUIRE(s.check(parts));
  const auto again = s.check(parts, now + std::chrono::seconds{59});
  REQUIRE_FALSE(again);
  CHECK(again.error().field == "X-Switchyard-Nonce");
}

TEST_CASE("a change of any signed part breaks the signature") {
  Signed s;
  CHECK_FALSE(s.check({"GET", parts.target, parts.body, parts.to}));
  CHECK_FALSE(s.check({parts.method, "/v1/launch", parts.body, parts.to}));
  CHECK_FALSE(s.check({parts.method, parts.target, R"({"job":2})", parts.to}));
  CHECK_FALSE(s.check({parts.method, parts.target, parts.body, "n2"}));
  const SignatureHeaders good = s.headers;
  s.headers.nonce[0] = s.headers.nonce[0] == 'a' ? 'b' : 'a';
  CHECK_FALSE(s.check(parts));
  s.headers = good;
  s.headers.key = "n1";
  CHECK_FALSE(s.check(parts));
  s.headers = good;
  s.headers.time = std::to_string(base::micros(now) + 1);
  CHECK_FALSE(s.check(parts));
  s.headers = good;
  s.headers.signature[3] = s.headers.signature[3] == 'A' ? 'B' : 'A';
  CHECK_FALSE(s.check(parts));
  CHECK(s.nonces.size() == 0);  // nothing refused may fill the cache
  s.headers = good;
  CHECK(s.check(parts));
}

TEST_CASE("a request outside sixty seconds of the receiver's clock is refused, either way") {
  CHECK_FALSE(Signed{}.check(parts, now + std::chrono::seconds{61}));
  CHECK_FALSE(Signed{}.check(parts, now - std::chrono::seconds{61}));
  CHECK(Signed{}.check(parts, now + std::chrono::seconds{60}));
}

TEST_CASE("the key of somebody else does not verify") {
  Signed s;
  const KeyPair other = KeyPair::generate();
  CHECK_FALSE(check_signature(other.public_key(), s.headers, parts, now, s.nonces));
  CHECK_FALSE(check_signature("", s.headers, parts, now, s.nonces));
  CHECK_FALSE(check_signature("not base64!", s.headers, parts, now, s.nonces));
}

TEST_CASE("missing and malformed headers are refused") {
  for (auto member : {&SignatureHeaders::key, &SignatureHeaders::time, &SignatureHeaders::nonce, &SignatureHeaders::signature}) {
    for (const char* value : {"", "x", "-1", "99999999999999999999999", "line\nbreak"}) {
      Signed s;
      s.headers.*member = value;
      CHECK_FALSE(s.check(parts));
    }
  }
}

TEST_CASE("the nonce cache forgets after the window, is bounded, and keeps senders apart") {
  NonceCache cache{2};
  const auto later = now + std::chrono::seconds{60};
  CHECK(cache.remember("a", "1", later, now));
  CHECK(cache.remember("a", "2", later, now));
  const auto third = cache.remember("a", "3", later, now);
  REQUIRE_FALSE(third);
  CHECK(third.error().code == Code::too_many);
  CHECK(cache.remember("b", "1", later, now));
  CHECK(cache.remember("a", "3", later + std::chrono::seconds{60}, later + std::chrono::seconds{1}));
  CHECK(cache.size() == 1);
}

TEST_CASE("a key file is private, made once, and refused when others can read it") {
  const TempFolder folder;
  const std::string path = folder.path + "/key";
  const auto made = KeyPair::load_or_create(path);
  REQUIRE(made);
  struct stat s{};
  REQUIRE(::stat(path.c_str(), &s) == 0);
  CHECK((s.st_mode & 07777) == 0600);
  const auto again = KeyPair::load_or_create(path);
  REQUIRE(again);
  CHECK(again->public_key() == made->public_key());
  CHECK(verify_signature(made->public_key(), "text", again->sign("text")));
  CHECK(made->save(path).error().code == Code::conflict);

  REQUIRE(::chmod(path.c_str(), 0640) == 0);
  CHECK(KeyPair::load(path).error().code == Code::forbidden);
  CHECK_FALSE(KeyPair::load_or_create(path));
  REQUIRE(::chmod(path.c_str(), 0600) == 0);

  REQUIRE(::symlink(path.c_str(), (folder.path + "/link").c_str()) == 0);
  CHECK_FALSE(KeyPair::load(folder.path + "/link"));
  { std::ofstream(path) << "rubbish"; }
  CHECK(KeyPair::load(path).error().code == Code::invalid_argument);
  CHECK(KeyPair::load(folder.path + "/none").error().code == Code::not_found);
}

TEST_CASE("digests, base64 and fingerprints are the known ones") {
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(to_base64("") == "");
  CHECK(to_base64("f") == "Zg==");
  CHECK(to_base64("foobar") == "Zm9vYmFy");
  CHECK(from_base64("Zg==") == "f");
  CHECK(from_base64("") == "");
  for (const char* bad : {"Zg", "Zg=", "Z===", " Zg=", "Zg==\n", "Zm9v\nmFy", "Zm9%"}) CHECK_FALSE(from_base64(bad));
  CHECK(key_fingerprint(to_base64(std::string(32, '\0'))) == sha256_hex(std::string(32, '\0')).substr(0, 32));
  CHECK(key_fingerprint("Zg==").empty());
  CHECK(equal_in_constant_time("abc", "abc"));
  CHECK_FALSE(equal_in_constant_time("abc", "abd"));
  CHECK_FALSE(equal_in_constant_time("abc", "ab"));
  CHECK(random_hex(16).size() == 32);
  CHECK(random_hex(16) != random_hex(16));
}
