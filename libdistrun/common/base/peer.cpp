#include <distrun/common/base/peer.hpp>

#include <sys/socket.h>
#include <unistd.h>

namespace distrun::base {

bool is_trusted_peer(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == ::getuid() || peer.uid == 0;
}

}  // namespace distrun::base
