#include <distrun/common/base/free_port.hpp>

#include <catch2/catch.hpp>

#include <netinet/in.h>
#include <sys/socket.h>

#include <distrun/common/base/fd.hpp>

TEST_CASE("a free port can be listened on", "[base]") {
  const int port = distrun::base::find_free_port();
  REQUIRE(port > 0);
  REQUIRE(port < 65536);
  const distrun::base::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  CHECK(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  CHECK(::listen(socket.get(), 1) == 0);
}
