#pragma once
// The messages between a coordinator and its nodes. A node runs some of the ranks of a world, which has the same number
// on all nodes; ranks keep their numbers in the world. Times are those of the node's monotonic clock: the coordinator
// converts them.
//
//   coordinator   Welcome, once; List, Prepare, TryPrivateTmp, BeginLoad: each is answered once, by its id
//                 Spawn: Spawned or SpawnFailed, then RankStarted and frames of ranks; State as it changes
//                 Inspect, once all ranks of the world wait for another order: Captured for each rank, then Inspected
//                 Keep: their test is over; Renew: the orders for another test follow
//                 Begin, to the nodes of a program once all have answered Spawned: starts the ranks; ProgramBegan
//                 ConfirmOutput, to nodes that send Output (output_window.hpp); Input, to the node of the rank that
//                 reads it: ConfirmInput (input_window.hpp)
//                 ReadTrace, once the ranks of the world have ended or wait for another order: TracePart
//                 (trace_messages.hpp)
//                 Sweep, once all ranks of the world on this node have ended: Captured for each rank, then Swept
//                 EndWorld: living ranks are killed, and no more is sent of this world
//                 Close: Closed is the last frame of the node
//   node          Ending, if it belongs to a job and a signal asks it to end
//
// All contents are untrusted on both sides.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/board/dump_area.hpp>
#include <distrun/common/board/slot_reader.hpp>
#include <distrun/common/wire/codec.hpp>
#include <distrun/common/wire/node.hpp>
#include <distrun/common/wire/plugin_table.hpp>
#include <distrun/common/wire/stacks.hpp>
#include <distrun/runner/evidence/stacks/stacks.hpp>
#include <distrun/runner/launch/node.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::board {

DISTRUN_FIELDS(ShownWait, m.kind, m.name, m.id, m.rule, m.peers, m.tid, m.in_body, m.since_ns, m.deadline_ns, m.file,
               m.line)
DISTRUN_FIELDS(ShownOperation, m.number, m.kind, m.name, m.id, m.peer, m.at_ns)
DISTRUN_FIELDS(Shown, m.pid, m.body_tid, m.phase, m.stray_child, m.phase_since_ns, m.epoch, m.waits_not_shown,
               m.child_returned, m.leaving_with, m.waits, m.operations, m.errors)
DISTRUN_FIELDS(Dump, m.stacks, m.complete, m.signal, m.code, m.address, m.stack_pointer, m.crashed_tid, m.rank,
               m.left_out, m.exception_type, m.exception_text, m.address_text)

}  // namespace distrun::board

namespace distrun::evidence {

DISTRUN_FIELDS(Source, m.name, m.answered, m.why_not)
DISTRUN_FIELDS(Process, m.index, m.host, m.rank, m.of_rank, m.pid, m.command, m.threads, m.why_none, m.sources,
               m.has_thread_ranks, m.threw, m.script)
DISTRUN_FIELDS(Stacks, m.table, m.processes, m.cut, m.descendants_left, m.times_are_later, m.may_be_older)

}  // namespace distrun::evidence

namespace distrun::launch {

DISTRUN_FIELDS(ProcessState, m.exists, m.ends, m.stopped, m.debugged)
DISTRUN_FIELDS(LeftBehind, m.kind, m.what, m.removed)
DISTRUN_FIELDS(LoadPlan, m.cpu, m.memory, m.pause, m.seed)

}  // namespace distrun::launch

namespace distrun::nodes {

// Returns the message of a frame. Throws Error{InvalidArgument} if it has another.
template <class Message>
Message payload(const wire::Frame& frame) {
  return wire::decode<Message>(wire::view_of(frame.payload));
}

// Bytes inside a message are a string.
inline std::string text_of(const wire::Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline wire::BytesView bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

// ---- from the coordinator

inline constexpr std::int32_t kJobsMax = 256;  // as --jobs allows

// Tells a node about the run.
struct Welcome {
  std::string run_id;
  bool keep_work_dir = false;
  bool leaks_off = false;
  bool live_output = false;  // send what ranks of tests write at once
  bool any_files = true;     // ordinary files may be left-overs, too
  std::int32_t jobs = 1;     // the number of lanes: of tests that run at the same time
  runner::Bind bind = runner::Bind::None;
  bool private_tmp = false;            // the worlds of each lane have a private /tmp
  std::vector<std::string> plugins{};  // of the run, which stay visible then
  bool in_job = false;       // the nodes belong to a job of a batch system: report its signal, and wait for the order
  std::int64_t leak_ns = 0;  // graces: see runner::Graces
  std::int64_t kill_ns = 0;
  std::int64_t exit_ns = 0;
};
DISTRUN_FIELDS(Welcome, m.run_id, m.keep_work_dir, m.leaks_off, m.live_output, m.any_files, m.jobs, m.bind,
               m.private_tmp, m.plugins, m.in_job, m.leak_ns, m.kill_ns, m.exit_ns)
// Throws Error{InvalidArgument}.
void check(const Welcome& run);

struct ListRequest {
  std::uint32_t id = 0;
  std::string plugin;
  wire::ListOrder order;
  std::int64_t bound_ns = 0;
};
DISTRUN_FIELDS(ListRequest, m.id, m.plugin, m.order, m.bound_ns)

struct PrepareRequest {
  std::uint32_t id = 0;
  std::string plugin;
  Isolation isolation = Isolation::Process;
  std::int64_t bound_ns = 0;
};
DISTRUN_FIELDS(PrepareRequest, m.id, m.plugin, m.isolation, m.bound_ns)

// TryPrivateTmp, answered by Prepared: can ranks have a private /tmp?
struct TrialRequest {
  std::uint32_t id = 0;
};
DISTRUN_FIELDS(TrialRequest, m.id)

// BeginLoad, answered by Prepared: the host is made busy, as in stress runs, until EndLoad.
struct LoadRequest {
  std::uint32_t id = 0;
  launch::LoadPlan plan;
};
DISTRUN_FIELDS(LoadRequest, m.id, m.plan)

struct ReleaseOrder {
  std::string plugin;
};
DISTRUN_FIELDS(ReleaseOrder, m.plugin)

// A test that the ranks of a world run, as far as their nodes have to know it.
struct TestOfWorld {
  std::string id;
  bool env_rendezvous = false;
  bool own_gpu = false;
  std::uint64_t trace_records = 0;  // that each rank may keep; 0: they are not traced
};
DISTRUN_FIELDS(TestOfWorld, m.id, m.env_rendezvous, m.own_gpu, m.trace_records)
// Throws Error{InvalidArgument}.
void check(const TestOfWorld& test);

// The program that ranks run, instead of a plugin.
struct ProgramOrder {
  std::vector<std::string> arguments;    // from its name on, which the node looks up in the environment's $PATH
  std::vector<std::string> environment;  // "KEY=value": that of the command which has started the run
  std::vector<std::string> overrides;    // what its user has set with --env
  std::string master_address;
  std::int32_t host = 0;         // the number of the node among those of the world
  std::int32_t stdin_rank = -1;  // the rank that reads Input
};
DISTRUN_FIELDS(ProgramOrder, m.arguments, m.environment, m.overrides, m.master_address, m.host, m.stdin_rank)
// Throws Error{InvalidArgument} for an order that cannot be carried out as it was meant.
void check(const ProgramOrder& order);

struct SpawnRequest {
  std::uint32_t world = 0;
  std::string plugin;
  Isolation isolation = Isolation::Process;
  std::int32_t world_size = 0;
  std::int32_t first_rank = 0;
  std::int32_t ranks_here = 0;
  std::int32_t lane = -1;  // the run's lane that the world belongs to, with its CPUs and its /tmp; -1: none
  TestOfWorld test{};      // the first
  std::string hosts;       // $DISTRUN_HOSTS of the ranks: for large worlds longer than all else in their orders
  std::optional<ProgramOrder> program{};  // with the isolation Program
};
DISTRUN_FIELDS(SpawnRequest, m.world, m.plugin, m.isolation, m.world_size, m.first_rank, m.ranks_here, m.lane, m.test,
               m.hosts, m.program)
// Throws Error{InvalidArgument}.
void check(const SpawnRequest& request);

struct RenewRequest {
  std::uint32_t world = 0;
  TestOfWorld test;
};
DISTRUN_FIELDS(RenewRequest, m.world, m.test)

// Starts the ranks of a program.
struct BeginOrder {
  std::uint32_t world = 0;
  std::int32_t master_port = 0;
};
DISTRUN_FIELDS(BeginOrder, m.world, m.master_port)

// A packed control frame for a rank, or from one.
struct RankBytes {
  std::uint32_t world = 0;
  std::int32_t rank = 0;
  std::string bytes;
  std::int64_t at_ns = 0;  // of a frame from a rank: when the node has received it
};
DISTRUN_FIELDS(RankBytes, m.world, m.rank, m.bytes, m.at_ns)

struct SignalOrder {
  std::uint32_t world = 0;
  std::int32_t rank = 0;
  std::int32_t signal = 0;
  bool process_only = false;
};
DISTRUN_FIELDS(SignalOrder, m.world, m.rank, m.signal, m.process_only)

struct CollectRequest {
  std::uint32_t id = 0;
  std::uint32_t world = 0;
  std::int32_t samples = 0;
  std::int64_t bound_ns = 0;
  bool gentle = false;
  std::int64_t settle_ns = 0;
};
DISTRUN_FIELDS(CollectRequest, m.id, m.world, m.samples, m.bound_ns, m.gentle, m.settle_ns)

struct StacksOfRank {
  std::int32_t rank = 0;
  wire::RawStacks raw;
};
DISTRUN_FIELDS(StacksOfRank, m.rank, m.raw)

struct NameRequest {
  std::uint32_t id = 0;
  std::uint32_t world = 0;
  std::string source;
  std::int64_t bound_ns = 0;
  std::vector<StacksOfRank> stacks;
};
DISTRUN_FIELDS(NameRequest, m.id, m.world, m.source, m.bound_ns, m.stacks)

// Standard input of a program's rank.
struct InputPiece {
  std::uint32_t world = 0;
  std::string bytes;  // empty: its end
};
DISTRUN_FIELDS(InputPiece, m.world, m.bytes)

// ConfirmOutput, ConfirmInput.
struct ConfirmedBytes {
  std::uint32_t world = 0;
  std::uint64_t bytes = 0;  // taken since the last confirmation
};
DISTRUN_FIELDS(ConfirmedBytes, m.world, m.bytes)

// ForgetOutput, Inspect, Keep (do the ranks go on using what the test was given?), Sweep (patient?), EndWorld.
struct WorldOrder {
  std::uint32_t world = 0;
  bool yes = false;
};
DISTRUN_FIELDS(WorldOrder, m.world, m.yes)

// Close, Cancel, EndLoad.
struct CloseOrder {};
template <class Archive>
void fields(Archive& /*archive*/, const CloseOrder& /*m*/) {}

// ---- from the node

struct Listed {
  std::uint32_t id = 0;
  std::string error;  // why there is no table; empty: there is
  std::string table;  // encoded
};
DISTRUN_FIELDS(Listed, m.id, m.error, m.table)

struct PreparedAnswer {
  std::uint32_t id = 0;
  std::string error;
  Isolation isolation = Isolation::Process;
  std::string reason;
};
DISTRUN_FIELDS(PreparedAnswer, m.id, m.error, m.isolation, m.reason)

// Ports that were free a moment ago, for the ranks of one test; 0: rank 0 does not run here.
struct Ports {
  std::int32_t master = 0;
  std::int32_t rendezvous = 0;
};
DISTRUN_FIELDS(Ports, m.master, m.rendezvous)

struct Spawned {
  std::uint32_t world = 0;
  Ports ports{};
};
DISTRUN_FIELDS(Spawned, m.world, m.ports)

// RankStarted, ProgramBegan (without a pid).
struct RankStarted {
  std::uint32_t world = 0;
  std::int32_t rank = 0;
  std::int32_t pid = 0;
};
DISTRUN_FIELDS(RankStarted, m.world, m.rank, m.pid)

// ConnectionLost, StrayChild, SpawnFailed (without a rank).
struct RankText {
  std::uint32_t world = 0;
  std::int32_t rank = -1;
  std::string text;
};
DISTRUN_FIELDS(RankText, m.world, m.rank, m.text)

// A rank as its node sees it. Parts that have not changed are left out.
struct RankView {
  std::int32_t rank = 0;
  std::optional<board::Shown> shown;
  std::optional<board::Dump> crash;
  std::int64_t cpu_wait_ns = 0;
  std::int64_t cpu_time_ns = 0;
  launch::ProcessState process;
};
DISTRUN_FIELDS(RankView, m.rank, m.shown, m.crash, m.cpu_wait_ns, m.cpu_time_ns, m.process)

struct WorldState {
  std::uint32_t world = 0;
  std::vector<RankView> ranks;
};
DISTRUN_FIELDS(WorldState, m.world, m.ranks)

struct RankEnded {
  std::uint32_t world = 0;
  RankView last;
  std::int32_t code = 0;
  std::int32_t signal = 0;
  std::int32_t because_of = -1;
  std::int64_t at_ns = 0;  // when the node has learned it
};
DISTRUN_FIELDS(RankEnded, m.world, m.last, m.code, m.signal, m.because_of, m.at_ns)

struct OutputPiece {
  std::uint32_t world = 0;
  std::int32_t rank = 0;
  launch::Stream stream = launch::Stream::Out;
  std::string bytes;
};
DISTRUN_FIELDS(OutputPiece, m.world, m.rank, m.stream, m.bytes)

struct Collected {
  std::uint32_t id = 0;
  evidence::Stacks stacks;
  WorldState state;  // the ranks at that moment
};
DISTRUN_FIELDS(Collected, m.id, m.stacks, m.state)

// All output of a rank's stream, as far as it is kept.
struct CapturedStream {
  std::uint32_t world = 0;
  std::int32_t rank = 0;
  launch::Stream stream = launch::Stream::Out;
  std::string text;
  std::uint64_t bytes_total = 0;
  std::uint64_t bytes_dropped = 0;
};
DISTRUN_FIELDS(CapturedStream, m.world, m.rank, m.stream, m.text, m.bytes_total, m.bytes_dropped)

// Left-overs that an inspection finds stay until the ranks have ended and are swept up.
struct Inspected {
  std::uint32_t world = 0;
  bool is_clean = false;
  Ports ports{};  // for the next test
};
DISTRUN_FIELDS(Inspected, m.world, m.is_clean, m.ports)

struct Swept {
  std::uint32_t world = 0;
  std::vector<launch::LeftBehind> left;
};
DISTRUN_FIELDS(Swept, m.world, m.left)

// A node in a job got a signal that asks it to end. So do all others, and the ranks.
struct Ending {
  std::int32_t signal = 0;
};
DISTRUN_FIELDS(Ending, m.signal)

// The findings of a node at the end of the run.
struct Closed {
  std::vector<std::string> suspicions;  // names with the run's id that belong to one of several tests
  std::vector<std::string> strangers;   // names that have appeared and may belong to any process
  std::vector<std::string> stuck;       // files that could not be removed
};
DISTRUN_FIELDS(Closed, m.suspicions, m.strangers, m.stuck)

}  // namespace distrun::nodes
