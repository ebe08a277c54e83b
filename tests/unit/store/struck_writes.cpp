#include "struck_writes.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>

namespace distrun::stores::testing_strikes {
namespace {

int calls_left = 0;  // 0: inactive
int struck_parts = 0;
int all_parts = 1;

bool is_struck() { return calls_left > 0 && --calls_left == 0; }

template <class Call>
int struck(const Call& call) {
  if (!is_struck()) return call();
  if (struck_parts > 0) (void)call();
  ::raise(SIGKILL);
  return -1;
}

}  // namespace

void strike(int call, int parts, int all) {
  calls_left = call;
  struck_parts = parts;
  all_parts = all;
}

}  // namespace distrun::stores::testing_strikes

namespace strikes = distrun::stores::testing_strikes;

extern "C" {

ssize_t pwrite(int fd, const void* bytes, size_t size, off_t at) {
  if (!strikes::is_struck()) return ::syscall(SYS_pwrite64, fd, bytes, size, at);
  const size_t done = size * static_cast<size_t>(strikes::struck_parts) / static_cast<size_t>(strikes::all_parts);
  (void)::syscall(SYS_pwrite64, fd, bytes, done, at);
  ::raise(SIGKILL);
  return -1;
}

int ftruncate(int fd, off_t size) noexcept {
  return strikes::struck([fd, size] { return static_cast<int>(::syscall(SYS_ftruncate, fd, size)); });
}

int fallocate(int fd, int mode, off_t from, off_t size) {
  return strikes::struck(
      [fd, mode, from, size] { return static_cast<int>(::syscall(SYS_fallocate, fd, mode, from, size)); });
}
}
