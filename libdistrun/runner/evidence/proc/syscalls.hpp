#pragma once
// Decodes the system call that a thread is in, from /proc/PID/task/TID/syscall, and what its arguments mean for
// waiting. A 32-bit program under a 64-bit kernel has other numbers and is recognised by its addresses.
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

// The kind of event that a call waits for. The first argument is the descriptor unless stated otherwise.
enum class CallShape : std::uint8_t {
  Other,  // something else, or nothing
  Reads,
  Writes,
  Moves,  // from the first argument to the third (splice, tee)
  Sends,  // from the second argument to the first (sendfile)
  Accepts,
  Connects,
  Receives,  // from a message queue; the fifth argument is a time limit, as for Posts
  Posts,
  Opens,    // the path is the first argument
  OpensAt,  // the path is the second
  Polls,
  PollsSpec,  // its timeout is a timespec
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
  Clones,
  Restarts,  // restart_syscall: resumes an interrupted call
};

struct CallInfo {
  long number = -1;
  const char* name = "";
  CallShape shape = CallShape::Other;
  // How to print each argument, six at most. d: signed number, u: unsigned number, x: address or mask.
  const char* arguments = "";
};
// Returns null if the call is not in the table.
const CallInfo* find_call(long number);
// Returns the call that restart_syscall resumes, which has the same arguments, judging by the kernel function
// (/proc/PID/task/TID/wchan) in which the thread sleeps. Null if that is not conclusive.
const CallInfo* restarted_call(std::string_view kernel_function);

// Formats a line of /proc/PID/syscall: "read(3, 0x7ffc0, 1)". Empty for a thread that is in no call. For
// restart_syscall, shows the resumed call if `kernel_function`, in which the thread sleeps, reveals it.
std::string describe_syscall(std::string_view line, std::string_view kernel_function = {});

}  // namespace distrun::evidence
