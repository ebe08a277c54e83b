#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/packet.hpp>
#include <distrun/common/wire/zygote.hpp>

#include "support/error_of.hpp"
#include "unit/support/limits.hpp"

using namespace distrun;
using namespace distrun::wire;

namespace {

ErrorKind kind_of_error(const auto& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.kind();
  }
  return ErrorKind::Unimplemented;  // stands for no error
}

bool same_file(int a, int b) {
  struct stat first {};
  struct stat second {};
  return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_ino == second.st_ino &&
         first.st_dev == second.st_dev;
}

}  // namespace

TEST_CASE("packets keep their boundaries") {
  const base::FdPair line = base::make_socket_pair(SOCK_SEQPACKET);
  const Bytes first(3, std::byte{1});
  const Bytes second(5, std::byte{2});
  send_packet(line.first.get(), view_of(first));
  send_packet(line.first.get(), view_of(second));
  CHECK(receive_packet(line.second.get())->bytes == first);
  CHECK(receive_packet(line.second.get())->bytes == second);
}

TEST_CASE("as many descriptors as a request needs arrive with a packet and close on exec") {
  const base::FdPair line = base::make_socket_pair(SOCK_SEQPACKET);
  const base::FdPair pipe = base::make_pipe();
  std::vector<int> fds(3 * kRanksPerRequest, pipe.second.get());
  fds.front() = pipe.first.get();
  const Bytes bytes(1);
  send_packet(line.first.get(), view_of(bytes), fds);
  const auto packet = receive_packet(line.second.get());
  REQUIRE(packet);
  REQUIRE(packet->fds.size() == fds.size());
  CHECK(same_file(packet->fds.front().get(), pipe.first.get()));
  CHECK(same_file(packet->fds.back().get(), pipe.second.get()));
  for (const base::Fd& fd : packet->fds) CHECK((::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE(
    "a packet with descriptors that this process cannot take is an error that names the limit, and none stays open") {
  const base::FdPair line = base::make_socket_pair(SOCK_SEQPACKET);
  base::FdPair pipe = base::make_pipe();
  const Bytes bytes(1);
  send_packet(line.first.get(), view_of(bytes), std::vector<int>(5, pipe.second.get()));
  pipe.second.reset();
  for (const int room : {0, 3}) {
    if (room > 0) {
      base::FdPair again = base::make_pipe();
      send_packet(line.first.get(), view_of(bytes), std::vector<int>(5, again.second.get()));
      pipe.first = std::move(again.first);
    }
    const distrun::testing::FewFiles few(room);
    const Error error = distrun::testing::error_of([&] { receive_packet(line.second.get()); });
    CHECK(error.kind() == ErrorKind::Overloaded);
    CHECK(error.text() == "process " + std::to_string(::getpid()) +
                              " cannot receive its peer's descriptors: " + base::errno_text(EMFILE));
    CHECK_THAT(error.text(), Catch::Contains("the limit of open files is " + std::to_string(few.limit()) +
                                             " (RLIMIT_NOFILE); raise it"));
    char byte = 0;
    CHECK(::read(pipe.first.get(), &byte, 1) == 0);  // no writer is left
  }
}

TEST_CASE("unclaimed descriptors of a packet are closed") {
  const base::FdPair line = base::make_socket_pair(SOCK_SEQPACKET);
  base::FdPair pipe = base::make_pipe();
  const Bytes bytes(1);
  send_packet(line.first.get(), view_of(bytes), std::vector<int>{pipe.second.get()});
  pipe.second.reset();
  receive_packet(line.second.get());
  char byte = 0;
  CHECK(::read(pipe.first.get(), &byte, 1) == 0);  // end-of-file: no writer is left
}

TEST_CASE("a packet over a limit is refused by its sender") {
  const base::FdPair line = base::make_socket_pair(SOCK_SEQPACKET);
  const Bytes most(kPacketSizeMax);
  const Bytes more(kPacketSizeMax + 1);
  const std::vector<int> fds(254, STDERR_FILENO);
  CHECK_NOTHROW(send_packet(line.first.get(), view_of(most)));
  CHECK(receive_packet(line.second.get())->bytes.size() == kPacketSizeMax);
  CHECK(kind_of_error([&] { send_packet(line.first.get(), view_of(more)); }) == ErrorKind::Overloaded);
  CHECK(kind_of_error([&] { send_packet(line.first.get(), view_of(most), fds); }) == ErrorKind::Overloaded);
}

TEST_CASE("a closed peer is an end for a receiver and an error for a sender") {
  base::FdPair line = base::make_socket_pair(SOCK_SEQPACKET);
  line.second.reset();
  const Bytes bytes(1);
  CHECK_FALSE(receive_packet(line.first.get()));
  CHECK(kind_of_error([&] { send_packet(line.first.get(), view_of(bytes)); }) == ErrorKind::Disconnected);
}

TEST_CASE("a non-blocking socket that is empty or full says so") {
  const base::FdPair line = base::make_socket_pair(SOCK_SEQPACKET);
  base::set_nonblocking(line.first.get());
  CHECK(kind_of_error([&] { receive_packet(line.first.get()); }) == ErrorKind::Timeout);
  const Bytes bytes(kPacketSizeMax);
  CHECK(kind_of_error([&] {
          for (int i = 0; i < 10000; ++i) send_packet(line.first.get(), view_of(bytes));
        }) == ErrorKind::Overloaded);
}
