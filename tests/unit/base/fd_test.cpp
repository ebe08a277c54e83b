#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/sanitizer.hpp>

#include "support/skip.hpp"

using namespace distrun::base;

namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }
bool closes_on_exec(int fd) { return (::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0; }

}  // namespace

TEST_CASE("a descriptor is closed once, by its last owner") {
  FdPair pipe = make_pipe();
  const int number = pipe.first.get();
  {
    Fd owner = std::move(pipe.first);
    CHECK_FALSE(pipe.first);
    CHECK(owner.get() == number);
    CHECK(is_open(number));
  }
  CHECK_FALSE(is_open(number));
}

TEST_CASE("an assignment closes the descriptor owned before, and a self-assignment closes none") {
  FdPair pipe = make_pipe();
  const int first = pipe.first.get();
  const int second = pipe.second.get();
  Fd& same = pipe.second;
  pipe.second = std::move(same);
  CHECK(is_open(second));
  pipe.first = std::move(pipe.second);
  CHECK_FALSE(is_open(first));
  CHECK(pipe.first.get() == second);
}

TEST_CASE("a released descriptor stays open and belongs to the caller") {
  FdPair pipe = make_pipe();
  const int number = pipe.first.release();
  CHECK_FALSE(pipe.first);
  pipe.first.reset();
  REQUIRE(is_open(number));
  const Fd again(number);
}

TEST_CASE("new descriptors close on exec") {
  const FdPair pipe = make_pipe();
  CHECK(closes_on_exec(pipe.first.get()));
  CHECK(closes_on_exec(pipe.second.get()));
  for (const int type : {SOCK_STREAM, SOCK_SEQPACKET}) {
    const FdPair sockets = make_socket_pair(type);
    CHECK(closes_on_exec(sockets.first.get()));
    CHECK(closes_on_exec(sockets.second.get()));
  }
}

TEST_CASE("the first end of a pipe reads what was written to the second") {
  const FdPair pipe = make_pipe();
  REQUIRE(::write(pipe.second.get(), "x", 1) == 1);
  char byte = 0;
  REQUIRE(::read(pipe.first.get(), &byte, 1) == 1);
  CHECK(byte == 'x');
}

TEST_CASE("non-blocking mode can be switched on and off again") {
  const FdPair pipe = make_pipe();
  set_nonblocking(pipe.first.get());
  char byte = 0;
  CHECK(::read(pipe.first.get(), &byte, 1) < 0);
  CHECK((::fcntl(pipe.first.get(), F_GETFL) & O_NONBLOCK) != 0);
  set_nonblocking(pipe.first.get(), false);
  CHECK((::fcntl(pipe.first.get(), F_GETFL) & O_NONBLOCK) == 0);
  CHECK_THROWS_AS(set_nonblocking(-1), distrun::Error);
}

TEST_CASE("running out of descriptors is an error that says so") {
  distrun::testing::skip_case_if(distrun::base::kAddressSanitizer,
                                 "the sanitizer needs a descriptor to look at an exception's type");
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{0, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);
  std::string text;
  try {
    make_pipe();
  } catch (const distrun::Error& error) {
    text = error.what();
  }
  ::setrlimit(RLIMIT_NOFILE, &before);
  CHECK(text ==
        "cannot create a pipe: Too many open files (EMFILE); the limit of open files is 0 (RLIMIT_NOFILE); raise it, "
        "for example with ulimit -n");
}
