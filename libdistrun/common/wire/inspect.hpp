#pragma once
// The protocol by which a running distrun answers `distrun ps`, `stacks`, `doctor`, `attach` and `cancel`: one order,
// one answer, as frames on a Unix socket with an abstract name of user and run: "distrun-UID-RUNID".
#include <cstdint>
#include <string>
#include <vector>

#include <distrun/common/wire/codec.hpp>

namespace distrun::wire {

enum class InspectFrame : std::uint16_t {
  Order = 80,
  RunStatus = 81,
  ToldStacks = 82,
  ToldExamination = 83,
};
inline bool is_known(InspectFrame kind) noexcept {
  return kind >= InspectFrame::Order && kind <= InspectFrame::ToldExamination;
}

inline constexpr char kInspectPrefix[] = "distrun-";

// Cancel ends the run gracefully, as one Ctrl-C does, and is answered like Status. ExamineAsJson adds JSON to the
// answer of Examine.
enum class InspectKind : std::uint8_t { Status, Stacks, Cancel, Examine, ExamineAsJson };

struct InspectOrder {
  InspectKind kind = InspectKind::Status;
  std::int32_t rank = -1;  // -1: all
};
DISTRUN_FIELDS(InspectOrder, m.kind, m.rank)

struct RankStatus {
  std::int32_t rank = 0;
  std::int32_t pid = 0;        // 0: not started
  std::string doing;           // its phase, or how it ended
  std::int64_t since_ms = -1;  // -1: unknown
  std::string waits;           // "barrier \"meet\" (ring.cpp:41) for rank 1"; empty: no wait recorded
  std::uint64_t cpu_ms = 0;
  std::uint64_t memory_bytes = 0;  // 0: not known, as on other hosts
  std::string host;                // where it runs; empty: this machine
};
DISTRUN_FIELDS(RankStatus, m.rank, m.pid, m.doing, m.since_ms, m.waits, m.cpu_ms, m.memory_bytes, m.host)

// A running test.
struct TestStatus {
  std::string test;
  std::int32_t attempt = 0;
  std::int64_t test_ms = 0;  // since its attempt began
  std::vector<RankStatus> ranks;
};
DISTRUN_FIELDS(TestStatus, m.test, m.attempt, m.test_ms, m.ranks)

struct RunStatus {
  std::string run_id;
  std::int32_t pid = 0;  // of the coordinator
  std::int32_t done = 0;
  std::int32_t count = 0;
  std::vector<TestStatus> tests;
  std::vector<std::string> command;  // as typed
  std::vector<std::string> plugins;  // paths of the plugins, or of the program
  std::string directory;             // in which it was started
  std::int64_t started_ms = 0;       // since 1970
  std::string reach;                 // the shell command that runs {node} on {host}: "ssh -t {host}"; empty: unknown
};
DISTRUN_FIELDS(RunStatus, m.run_id, m.pid, m.done, m.count, m.tests, m.command, m.plugins, m.directory, m.started_ms,
               m.reach)

// Lines for users, in segments with a tone (runner/evidence/stacks/text_line.hpp).
struct ToldSegment {
  std::uint8_t tone = 0;
  std::string text;
};
DISTRUN_FIELDS(ToldSegment, m.tone, m.text)

struct ToldLine {
  std::vector<ToldSegment> segments;
};
DISTRUN_FIELDS(ToldLine, m.segments)

// The snapshot of one test.
struct SnapshotText {
  std::string test;
  std::int64_t at_ms = 0;  // since its attempt began
  std::int64_t took_ms = 0;
  std::vector<ToldLine> lines;
};
DISTRUN_FIELDS(SnapshotText, m.test, m.at_ms, m.took_ms, m.lines)

struct ToldStacks {
  std::vector<SnapshotText> snapshots;  // empty: no test runs
};
DISTRUN_FIELDS(ToldStacks, m.snapshots)

// Why the ranks of each running test hang, and their stacks.
struct ToldExamination {
  std::uint8_t finding = 0;             // of all tests (runner/record/doctor/examination.hpp)
  std::vector<SnapshotText> snapshots;  // empty: no test runs
  std::string json;                     // all of it, if requested
};
DISTRUN_FIELDS(ToldExamination, m.finding, m.snapshots, m.json)

}  // namespace distrun::wire
