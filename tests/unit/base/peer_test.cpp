#include <catch2/catch.hpp>

#include <sys/socket.h>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/peer.hpp>

using namespace distrun;

TEST_CASE("a peer of this user is trusted, and a descriptor without a peer is not") {
  const base::FdPair pair = base::make_socket_pair(SOCK_STREAM);
  CHECK(base::is_trusted_peer(pair.first.get()));
  const base::FdPair pipe = base::make_pipe();
  CHECK_FALSE(base::is_trusted_peer(pipe.first.get()));
  CHECK_FALSE(base::is_trusted_peer(-1));
}
