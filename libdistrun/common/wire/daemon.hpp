#pragma once
// The protocol between the daemon and its clients: frames on a Unix stream socket. A client sends hello, with its
// stdout, stderr and start directory as descriptors if it has a run. Then it either submits the run and is notified of
// its progress until it has ended, or it asks one question. Closing the connection cancels its run.
//
//   Hello, SubmitRun, SignalRun*   ->   RunAccepted, RunPosition*, RunStarted, RunEnded
//   Hello, AskStatus               ->   Status
//   Hello, CancelRuns              ->   RunsCancelled
//
// The daemon answers everything that it does not do by Refusal, and closes the connection.
#include <cstdint>
#include <string>
#include <vector>

#include <distrun/common/wire/codec.hpp>

namespace distrun::wire {

inline constexpr std::uint32_t kDaemonAbi = 2;

enum class DaemonFrame : std::uint16_t {
  // to the daemon
  Hello = 96,
  SubmitRun = 97,
  SignalRun = 98,
  CancelRuns = 99,
  AskStatus = 100,
  // to the client
  Refusal = 104,
  RunAccepted = 105,
  RunPosition = 106,
  RunStarted = 107,
  RunEnded = 108,
  RunsCancelled = 109,
  Status = 110,
};
inline bool is_known(DaemonFrame kind) noexcept {
  return (kind >= DaemonFrame::Hello && kind <= DaemonFrame::AskStatus) ||
         (kind >= DaemonFrame::Refusal && kind <= DaemonFrame::Status);
}

inline constexpr std::size_t kSubmitDescriptors = 3;  // output, errors, directory
inline constexpr std::size_t kArgumentsMax = 4096;
inline constexpr std::size_t kArgumentsBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kVariablesMax = std::size_t{1} << 16;
inline constexpr std::size_t kEnvironmentBytesMax = std::size_t{4} << 20;
// Limit of a frame to the daemon: all of the above, and a length before each string.
inline constexpr std::size_t kDaemonPayloadMax = std::size_t{6} << 20;

struct DaemonHello {
  std::uint32_t abi = kDaemonAbi;
};
DISTRUN_FIELDS(DaemonHello, m.abi)

struct Submission {
  std::vector<std::string> arguments;    // including the program's name as typed
  std::vector<std::string> environment;  // "KEY=value"; complete
  std::uint32_t file_mask = 022;         // umask
};
DISTRUN_FIELDS(Submission, m.arguments, m.environment, m.file_mask)

// Throws Error{Overloaded} that names the limit, or Error{InvalidArgument}, if no program could be started that way.
void check(const Submission& submission);

// Allowed are the signals that a terminal or a user sends: SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT,
// SIGWINCH.
struct RunSignal {
  std::int32_t number = 0;
};
DISTRUN_FIELDS(RunSignal, m.number)
bool may_be_sent(const RunSignal& signal) noexcept;

struct CancelOrder {
  std::string run;  // its id, or "all"
};
DISTRUN_FIELDS(CancelOrder, m.run)

struct Refusal {
  std::string text;  // what is wrong, and what to do
};
DISTRUN_FIELDS(Refusal, m.text)

struct RunAccepted {
  std::string run_id;
  std::int32_t ahead = 0;  // runs before this one; 0: it starts at once
};
DISTRUN_FIELDS(RunAccepted, m.run_id, m.ahead)

struct RunPosition {
  std::int32_t ahead = 0;
};
DISTRUN_FIELDS(RunPosition, m.ahead)

struct RunStarted {
  std::int32_t pid = 0;
};
DISTRUN_FIELDS(RunStarted, m.pid)

struct RunEnded {
  std::int32_t exit_code = 0;
  std::int32_t signal = 0;  // 0: it exited
  std::string why;          // who ended it, or why it did not start; empty: it ended normally
};
DISTRUN_FIELDS(RunEnded, m.exit_code, m.signal, m.why)

struct RunsCancelled {
  std::vector<std::string> queued;   // ids; removed from the queue
  std::vector<std::string> running;  // ids; signalled
};
DISTRUN_FIELDS(RunsCancelled, m.queued, m.running)

struct DaemonRun {
  std::string run_id;
  std::int32_t pid = 0;  // 0: queued
  std::int32_t ahead = 0;
  std::int64_t since_ms = 0;  // in this state
  bool stopped = false;       // by Ctrl-Z: takes no slot
  bool over = false;          // its tests are over, its output is not read yet: takes no slot
  std::string command;        // shortened
  std::string directory;      // in which it was submitted; empty if it cannot be read
};
DISTRUN_FIELDS(DaemonRun, m.run_id, m.pid, m.ahead, m.since_ms, m.stopped, m.over, m.command, m.directory)

struct DaemonStatus {
  std::string version;
  std::int32_t pid = 0;
  std::int64_t up_ms = 0;
  std::int32_t parallel = 1;
  std::int32_t queued_max = 0;
  std::uint64_t done = 0;       // runs that have ended since the daemon started
  std::vector<DaemonRun> runs;  // running, then queued in their order
};
DISTRUN_FIELDS(DaemonStatus, m.version, m.pid, m.up_ms, m.parallel, m.queued_max, m.done, m.runs)

}  // namespace distrun::wire
