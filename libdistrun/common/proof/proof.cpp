#include <distrun/common/proof/proof.hpp>

#include <sodium.h>
#include <sys/random.h>

#include <cerrno>

#include <distrun/common/base/error.hpp>

namespace distrun::proof {
namespace {

static_assert(kProofSize == crypto_auth_hmacsha256_BYTES);

// Chooses code for this CPU; no descriptor stays open. Before main(), since a process that is forked while another
// thread does this at its first proof would wait forever for that thread, which it does not have.
const bool is_ready = ::sodium_init() >= 0;

class Mac {
 public:
  explicit Mac(std::string_view key) {
    ::crypto_auth_hmacsha256_init(&state_, reinterpret_cast<const unsigned char*>(key.data()), key.size());
  }
  ~Mac() { ::sodium_memzero(&state_, sizeof state_); }
  Mac(const Mac&) = delete;
  Mac& operator=(const Mac&) = delete;

  void add(std::string_view bytes) {
    ::crypto_auth_hmacsha256_update(&state_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  }
  std::string take() {
    std::string mac(kProofSize, '\0');
    ::crypto_auth_hmacsha256_final(&state_, reinterpret_cast<unsigned char*>(mac.data()));
    return mac;
  }

 private:
  crypto_auth_hmacsha256_state state_{};
};

void check(const std::string& nonce, const char* side) {
  if (nonce.size() == kNonceSize) return;
  throw Error(ErrorKind::InvalidArgument, std::string("the nonce of the ") + side + " has " +
                                              std::to_string(nonce.size()) + " bytes: expected " +
                                              std::to_string(kNonceSize));
}

}  // namespace

std::string make_nonce() {
  std::string nonce(kNonceSize, '\0');
  for (;;) {
    const ssize_t count = ::getrandom(nonce.data(), nonce.size(), 0);  // so few bytes come whole, or not at all
    if (count == static_cast<ssize_t>(nonce.size())) return nonce;
    if (count >= 0 || errno != EINTR) base::throw_errno("cannot get random bytes from the kernel", errno);
  }
}

// The zero byte ends the protocol's name, the rest has fixed sizes: no two inputs give the same bytes.
std::string prove(std::string_view secret, std::string_view protocol, Side side, const Nonces& nonces) {
  check(nonces.connector, "connector");
  check(nonces.listener, "listener");
  if (!is_ready) throw Error(ErrorKind::Failed, "libsodium cannot be used: sodium_init() failed");
  Mac mac(secret);
  mac.add(protocol);
  mac.add(std::string_view("\0", 1));
  mac.add(side == Side::Connector ? "C" : "L");
  mac.add(nonces.connector);
  mac.add(nonces.listener);
  return mac.take();
}

bool is_proof(std::string_view claim, std::string_view secret, std::string_view protocol, Side side,
              const Nonces& nonces) {
  const std::string proof = prove(secret, protocol, side, nonces);
  return claim.size() == proof.size() && ::sodium_memcmp(claim.data(), proof.data(), proof.size()) == 0;
}

}  // namespace distrun::proof
