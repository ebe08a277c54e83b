#include <catch2/catch.hpp>

#include <linux/io_uring.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "cut_short.hpp"

using namespace distrun;
using distrun::probe::WaitedOn;

namespace {

using Arguments = std::array<std::uint64_t, 6>;

constexpr WaitedOn kPipe{.pipe = true};
constexpr WaitedOn kSocket{.socket = true};
constexpr WaitedOn kSlowSocket{.socket = true, .receive_limit = true, .send_limit = true};
constexpr WaitedOn kOther{};

bool shows(long number, Arguments args, WaitedOn on = kOther) {
  evidence::SyscallText call;
  call.where = evidence::SyscallText::Where::InCall;
  call.number = number;
  call.args = args;
  return probe::shows_a_stop(call, on);
}

}  // namespace

TEST_CASE("a wait that would restart its time limit is not interrupted") {
  CHECK(shows(SYS_epoll_pwait, {3, 4, 1, 1'000}));
  CHECK(shows(SYS_semtimedop, {3, 4, 1, 0x1000}));
  CHECK(shows(SYS_rt_sigtimedwait, {3, 4, 0x1000}));
  CHECK(shows(SYS_io_getevents, {3, 1, 1, 4, 0x1000}));
  CHECK(shows(SYS_io_uring_enter, {3, 0, 1, IORING_ENTER_EXT_ARG}));
  CHECK(shows(SYS_recvfrom, {3, 4, 8, 0}, kSlowSocket));
  CHECK(shows(SYS_read, {3, 4, 8}, kSlowSocket));
  CHECK(shows(SYS_accept4, {3}, kSlowSocket));
  CHECK(shows(SYS_connect, {3}, kSlowSocket));
}

TEST_CASE("a call that may be partly done is not interrupted") {
  CHECK(shows(SYS_write, {3, 4, 4097}, kPipe));
  CHECK(shows(SYS_write, {3, 4, 1}, kSocket));
  CHECK(shows(SYS_writev, {3, 4, 2}, kPipe));
  CHECK(shows(SYS_sendto, {3, 4, 8}, kSocket));
  CHECK(shows(SYS_sendfile, {3, 4}));
  CHECK(shows(SYS_splice, {3, 0, 4}));
  CHECK(shows(SYS_recvfrom, {3, 4, 8, MSG_WAITALL}, kSocket));
  CHECK(shows(SYS_recvmsg, {3, 4, MSG_WAITALL}, kSocket));
  CHECK(shows(SYS_recvmmsg, {3, 4, 2}, kSocket));
  CHECK(shows(SYS_io_getevents, {3, 2, 4, 4, 0}));
  CHECK(shows(SYS_io_uring_enter, {3, 1, 1, 0}));
}

TEST_CASE("a thread without a visible system call is stopped, since that gives its complete stack") {
  CHECK_FALSE(shows(SYS_read, {3, 4, 8}, kPipe));
  CHECK_FALSE(shows(SYS_recvfrom, {3, 4, 8, 0}, kSocket));
  CHECK_FALSE(shows(SYS_write, {3, 4, 4096}, kPipe));
  CHECK_FALSE(shows(SYS_accept, {3}, kSocket));
  CHECK_FALSE(shows(SYS_futex, {3}));
  CHECK_FALSE(shows(SYS_clock_nanosleep, {}));
  CHECK_FALSE(shows(SYS_restart_syscall, {}));
#if defined(__x86_64__)
  CHECK_FALSE(shows(SYS_epoll_wait, {3, 4, 1, static_cast<std::uint64_t>(-1)}));
  CHECK_FALSE(shows(SYS_semop, {3, 4, 1}));
  CHECK_FALSE(shows(SYS_rt_sigtimedwait, {3, 4, 0}));
#endif
}

TEST_CASE("a call that the stop found at its time limit is not restarted") {
  evidence::SyscallText call;
  call.args = {3, 1, 1, 4, 0x1000};
  for (const long number : {SYS_io_getevents, SYS_io_pgetevents}) {
    call.number = number;
    CHECK(probe::ended_at_limit(call, false));
    CHECK_FALSE(probe::ended_at_limit(call, true));
  }
  call.args[4] = 0;
  CHECK_FALSE(probe::ended_at_limit(call, false));
  call = {};
  call.number = SYS_epoll_pwait;  // reports its time limit first
  call.args[3] = 10;
  CHECK_FALSE(probe::ended_at_limit(call, false));
}

TEST_CASE("only calls that return EINTR for signals alone are restarted") {
  CHECK(probe::can_begin_again(SYS_epoll_pwait));
  CHECK(probe::can_begin_again(SYS_recvfrom));
  CHECK(probe::can_begin_again(SYS_semop));
  CHECK_FALSE(probe::can_begin_again(SYS_close));
  CHECK_FALSE(probe::can_begin_again(SYS_futex));
  CHECK_FALSE(probe::can_begin_again(-1));
}
