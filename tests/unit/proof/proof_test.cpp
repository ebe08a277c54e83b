// Proofs of a secret: their inputs, and agreement with other implementations.
#include <catch2/catch.hpp>

#include <set>

#include <distrun/common/base/error.hpp>
#include <distrun/common/proof/proof.hpp>

namespace distrun::proof {
namespace {

Nonces counted_nonces() {
  Nonces nonces;
  for (int i = 0; i < 32; ++i) nonces.connector += static_cast<char>(i);
  for (int i = 32; i < 64; ++i) nonces.listener += static_cast<char>(i);
  return nonces;
}

std::string hex(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) {
    for (const int shift : {4, 0}) text += "0123456789abcdef"[(static_cast<unsigned char>(byte) >> shift) & 15];
  }
  return text;
}

// Expected by Python's hmac for the same bytes.
TEST_CASE("a proof is the HMAC-SHA-256 of protocol, side and nonces") {
  const Nonces nonces = counted_nonces();
  CHECK(hex(prove("open sesame", "distrun-test-1", Side::Connector, nonces)) ==
        "e4f8ea2815b12c3c541d9a257b97044bf0cafd4d732c9342ce45f909d7a53445");
  CHECK(hex(prove("open sesame", "distrun-test-1", Side::Listener, nonces)) ==
        "b5e4a335d510802fbe40c2f42eebc059d3694df3d5f5e3cc723256903b43665a");
}

TEST_CASE("a proof is valid for one secret, protocol, side and pair of nonces only") {
  const Nonces nonces = counted_nonces();
  const std::string proof = prove("secret", "p-1", Side::Connector, nonces);
  CHECK(is_proof(proof, "secret", "p-1", Side::Connector, nonces));
  CHECK_FALSE(is_proof(proof, "Secret", "p-1", Side::Connector, nonces));
  CHECK_FALSE(is_proof(proof, "", "p-1", Side::Connector, nonces));
  CHECK_FALSE(is_proof(proof, "secret", "p-2", Side::Connector, nonces));
  CHECK_FALSE(is_proof(proof, "secret", "p-1", Side::Listener, nonces));
  CHECK_FALSE(is_proof(proof, "secret", "p-1", Side::Connector, {nonces.listener, nonces.connector}));
  CHECK_FALSE(is_proof(proof, "secret", "p-1", Side::Connector, {nonces.connector, nonces.connector}));
  for (std::size_t i = 0; i < proof.size(); ++i) {
    std::string other = proof;
    other[i] = static_cast<char>(other[i] ^ 1);
    CHECK_FALSE(is_proof(other, "secret", "p-1", Side::Connector, nonces));
    CHECK_FALSE(is_proof(proof.substr(0, i), "secret", "p-1", Side::Connector, nonces));
  }
  CHECK_FALSE(is_proof(proof + '\0', "secret", "p-1", Side::Connector, nonces));
}

TEST_CASE("nonces are complete, and never the same") {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(make_nonce());
  CHECK(seen.size() == 1000);
  for (const std::string& each : seen) CHECK(each.size() == kNonceSize);
}

TEST_CASE("a nonce of another size is refused, so a peer cannot choose an empty one") {
  const std::string nonce(kNonceSize, 'x');
  CHECK_THROWS_WITH(prove("s", "p", Side::Connector, {"", nonce}),
                    "the nonce of the connector has 0 bytes: expected 32");
  CHECK_THROWS_WITH(prove("s", "p", Side::Connector, {nonce, nonce + "x"}),
                    "the nonce of the listener has 33 bytes: expected 32");
}

}  // namespace
}  // namespace distrun::proof
