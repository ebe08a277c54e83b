#include <catch2/catch.hpp>

#include <sys/socket.h>

#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/frame_line.hpp>
#include <distrun/common/wire/mpi.hpp>

namespace {

using namespace distrun;

struct Ends {
  Ends() : Ends(base::make_socket_pair(SOCK_STREAM)) {}
  explicit Ends(base::FdPair pair)
      : one(std::move(pair.first), wire::kProtocol<wire::MpiFrame>),
        other(std::move(pair.second), wire::kProtocol<wire::MpiFrame>) {}
  wire::FrameLine one;
  wire::FrameLine other;
};

}  // namespace

TEST_CASE("frames arrive one by one over a blocking line, with their contents") {
  Ends ends;
  ends.one.send(wire::pack(wire::MpiFrame::Aborted, 3, wire::MpiAborted{7, ""}));
  ends.one.send(wire::pack(wire::MpiFrame::Refused, 1, wire::MpiRefused{"MPI_Comm_spawn"}));
  const auto first = ends.other.receive();
  REQUIRE(first);
  CHECK(first->rank == 3);
  CHECK(wire::decode<wire::MpiAborted>(wire::view_of(first->payload)).code == 7);
  const auto second = ends.other.receive();
  REQUIRE(second);
  CHECK(second->is(wire::MpiFrame::Refused));
  CHECK(wire::decode<wire::MpiRefused>(wire::view_of(second->payload)).call == "MPI_Comm_spawn");
}

TEST_CASE("the end of a line is no frame, and sending there is an error") {
  Ends ends;
  ::shutdown(ends.one.fd(), SHUT_RDWR);
  CHECK_FALSE(ends.other.receive());
  CHECK_THROWS_AS(ends.one.send(wire::pack_frame(wire::MpiFrame::Joined, 0, {})), Error);
}

TEST_CASE("a frame of another protocol ends a line with an error") {
  Ends ends;
  ends.one.send(wire::pack_frame(std::uint16_t{1}, 0, {}));
  CHECK_THROWS_AS(ends.other.receive(), Error);
}
