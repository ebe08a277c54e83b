#include <distrun/runtime/store/tcp_protocol.hpp>

namespace distrun::stores {

std::string hello(std::string_view secret) {
  if (secret.size() > kSecretSize) {
    throw Error(ErrorKind::InvalidArgument, "a store's secret has " + std::to_string(kSecretSize) +
                                                " characters at most, not " + std::to_string(secret.size()));
  }
  std::string bytes(kMagic);
  bytes += secret;
  bytes.resize(kHelloSize, '\0');
  return bytes;
}

}  // namespace distrun::stores
