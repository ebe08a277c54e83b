#pragma once
// Which system call a thread is in, from /proc/PID/task/TID/syscall, and what its arguments mean for waiting. The
// numbers are this machine's; a 32-bit program under a 64-bit kernel has others and is told apart by its addresses.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace distrun::evidence {

struct SyscallText {
  enum class Where : std::uint8_t { Running, NotInCall, InCall };
  Where where = Where::Running;
  long number = -1;
  std::array<std::uint64_t, 6> args{};
  std::uint64_t stack_pointer = 0;
  std::uint64_t instruction = 0;

  bool is_32_bit() const noexcept;
  friend bool operator==(const SyscallText&, const SyscallText&) = default;
};
// "running", "-1 0x7ffd... 0x7f4b...", or "0 0x5 0x7ffd... 0x1 0x0 0x0 0x0 0x7ffd... 0x7f4b...".
std::optional<SyscallText> parse_syscall(std::string_view text);

// For what a call waits. The first argument is the descriptor where nothing else is said.
enum class CallShape : std::uint8_t {
  Other,  // for something else, or not at all
  Reads,
  Writes,
  Moves,  // from the first to the third (splice, tee)
  Sends,  // from the second to the first (sendfile)
  Accepts,
  Connects,
  Opens,    // the path is the first argument
  OpensAt,  // the path is the second
  Polls,
  PollsSpec,  // its time limit is a timespec
  Selects,
  SelectsSpec,
  EpollWaits,
  EpollSpec,
  WaitsChild,  // wait4
  WaitsId,     // waitid
  Futex,
  Flock,
  Fcntl,
  Sleeps,       // nanosleep
  SleepsClock,  // clock_nanosleep
  Signal,
  Restarts,  // restart_syscall: some call that was interrupted
};

struct CallInfo {
  long number = -1;
  const char* name = "";
  CallShape shape = CallShape::Other;
  // How each argument is written, six at most. d: a number with a sign, u: one without, x: an address or a mask.
  const char* arguments = "";
};
// Null for one that is not in the table.
const CallInfo* find_call(long number);
// The call that restart_syscall goes on with, by the kernel function (/proc/PID/task/TID/wchan) in which the thread
// sleeps; its arguments are those of that call. Null if that does not tell.
const CallInfo* restarted_call(std::string_view kernel_function);

// What /proc/PID/syscall says, as one reads it: "read(3, 0x7ffc0, 1)". Empty for a thread that is in none. For
// restart_syscall it is the call that goes on, as far as the kernel function in which the thread sleeps tells.
std::string describe_syscall(std::string_view line, std::string_view kernel_function = {});

}  // namespace distrun::evidence
