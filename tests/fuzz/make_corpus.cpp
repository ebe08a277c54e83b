// Writes the corpora that are not written by hand, with the project's own encoders: make_corpus DIRECTORY.
// Run it again when a message changes.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <distrun/common/board/layout.hpp>
#include <distrun/common/wire/frame.hpp>
#include <distrun/common/wire/stacks.hpp>
#include <distrun/runner/report/json/summary.hpp>
#include <distrun/runtime/store/tcp_protocol.hpp>

#include "../unit/evidence/samples.hpp"
#include "../unit/report/samples.hpp"
#include "../unit/wire/messages.hpp"

namespace {

using namespace distrun;
using wire::ControlFrame;
using wire::DaemonFrame;
using wire::ProbeFrame;

std::filesystem::path corpus;

void write(const std::string& name, const wire::Bytes& bytes, const std::string& before = "") {
  std::filesystem::create_directories((corpus / name).parent_path());
  std::ofstream out(corpus / name, std::ios::binary);
  out << before;
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

void append(wire::Bytes& bytes, const wire::Bytes& more) { bytes.insert(bytes.end(), more.begin(), more.end()); }

// A rank's side of a test, and its coordinator's.
void write_frames() {
  wire::Bytes rank;
  append(rank, wire::pack(ControlFrame::Hello, 1, wire::Hello{wire::kControlAbi, 4711}));
  append(rank, wire::pack(ControlFrame::Phase, 1, wire::PhaseChange{wire::Phase::Body}));
  append(rank, wire::pack(ControlFrame::BarrierEnter, 1, wire::BarrierEnter{"x"}));
  append(rank, wire::pack(ControlFrame::Message, 1, wire::RankMessage{1, 2, "token", "data"}));
  append(rank, wire::pack(ControlFrame::ReceiveWait, 1, wire::ReceiveWait{2, "token"}));
  append(rank, wire::pack(ControlFrame::ReceiveEnd, 1, wire::ReceiveWait{2, "token"}));
  append(rank, wire::pack(ControlFrame::Note, 1, wire::Note{"key", "value"}));
  append(rank,
         wire::pack(ControlFrame::Error, 1, wire::ErrorReport{"ValueError", "lost", "r.cpp", 4, "main", true, 2}));
  append(rank, wire::pack(ControlFrame::Skip, 1, wire::SkipReport{74, "no CUDA"}));
  append(rank, wire::pack(ControlFrame::Leak, 1, wire::LeakReport{false, "5 (/tmp/x)"}));
  append(rank, wire::pack(ControlFrame::Done, 1, wire::Done{true, 7, {}}));
  write("frame_decoder/rank", rank, std::string(1, '\0'));
  write("frame_decoder/rank_in_pieces", rank, "\x05");
  write("frame_decoder/cut", {rank.begin(), rank.end() - 3}, "\x01");
  wire::Bytes coordinator = wire::pack(ControlFrame::Run, 1, wire::samples::run_order());
  append(coordinator, wire::pack(ControlFrame::PeerFailed, 1, wire::PeerFailed{2, "lost"}));
  append(coordinator, wire::pack(ControlFrame::BarrierRelease, 1, wire::BarrierRelease{"x", "", -1}));
  append(coordinator, wire::pack(ControlFrame::PeerFinished, 1, wire::PeerFinished{2}));
  append(coordinator, wire::pack_frame(ControlFrame::Finish, 1, {}));
  write("frame_decoder/coordinator", coordinator, "\x10");
  wire::Bytes unknown = wire::pack_frame(std::uint16_t{0x9123}, 1, wire::view_of(wire::Bytes(3)));
  append(unknown, wire::pack_frame(std::uint16_t{77}, 1, {}));
  write("frame_decoder/unknown", unknown, "\x02");
}

void write_tables() {
  write("plugin_table/empty", wire::encode(wire::PluginTable{}));
  write("plugin_table/full", wire::encode(wire::PluginTable{{wire::samples::test_info()}}));
  wire::TestInfo small;
  small.suite = "R";
  small.name = "a";
  small.world_size = 4;
  wire::TestInfo other = small;
  other.name = "b";
  other.parameters = {{"n", "1"}};
  write("plugin_table/two", wire::encode(wire::PluginTable{{small, other}}));
  small.name = "a/b";
  write("plugin_table/refused", wire::encode(wire::PluginTable{{small}}));
}

// What a probe tells.
void write_stacks(const std::string& name, const evidence::Stacks& stacks) {
  wire::Bytes bytes = wire::pack(ProbeFrame::Table, 0, wire::StackTable{stacks.table});
  for (const evidence::Process& process : stacks.processes) {
    const wire::ProcessStacks told = {process.index, process.pid, process.command, process.threads, process.why_none};
    append(bytes, wire::pack(ProbeFrame::Process, 0, told));
  }
  append(bytes, wire::pack(ProbeFrame::Done, 0, wire::ProbeDone{}));
  write("stacks/" + name, bytes);
}

// Scribbles: 3 bytes where, 1 how many, and what.
void write_board() {
  const auto wait = static_cast<std::uint32_t>(offsetof(board::Slot, waits));
  wire::Bytes bytes;
  for (std::uint32_t at = wait; at < wait + 320; at += 16) {
    for (const std::uint32_t byte : {at & 255U, at >> 8 & 255U, at >> 16, 16U}) bytes.push_back(std::byte(byte));
    bytes.insert(bytes.end(), 16, std::byte{1});
  }
  write("board/waits", bytes);
  write("board/nothing", {}, "none");
}

// A client with a run, and the daemon's side.
void write_daemon() {
  wire::Bytes client = wire::pack(DaemonFrame::Hello, 0, wire::DaemonHello{});
  append(client, wire::pack(DaemonFrame::SubmitRun, 0, wire::samples::submission()));
  append(client, wire::pack(DaemonFrame::SignalRun, 0, wire::RunSignal{2}));
  append(client, wire::pack(DaemonFrame::CancelRuns, 0, wire::CancelOrder{"all"}));
  append(client, wire::pack_frame(DaemonFrame::AskStatus, 0, {}));
  write("daemon/client", client);
  write("daemon/half", {client.begin(), client.begin() + 30});
  wire::Bytes daemon = wire::pack(DaemonFrame::RunAccepted, 0, wire::RunAccepted{"3f9c0a1b2c3d", 2});
  append(daemon, wire::pack(DaemonFrame::RunPosition, 0, wire::RunPosition{1}));
  append(daemon, wire::pack(DaemonFrame::RunStarted, 0, wire::RunStarted{4712}));
  append(daemon, wire::pack(DaemonFrame::RunEnded, 0, wire::RunEnded{130, 0, "cancelled"}));
  append(daemon, wire::pack(DaemonFrame::RunsCancelled, 0, wire::RunsCancelled{{"3f9c"}, {}}));
  append(daemon, wire::pack(DaemonFrame::Status, 0, wire::samples::daemon_status()));
  append(daemon, wire::pack(DaemonFrame::Refusal, 0, wire::Refusal{"full"}));
  write("daemon/daemon", daemon);
}

// A client that asks for each thing once.
void write_store() {
  using stores::Op;
  wire::Bytes client;
  const auto ask = [&](stores::Request request) {
    append(client, wire::pack(stores::StoreFrame::Ask, 0, stores::Ask{1, 1000, std::move(request)}));
  };
  ask({Op::Set, {"key"}, {"41"}, 0});
  ask({Op::Add, {"key"}, {}, 1});
  ask({Op::CompareSet, {"key"}, {"42", "43"}, 0});
  ask({Op::Append, {"key"}, {"0"}, 0});
  ask({Op::MultiSet, {"a", "b"}, {"1", "2"}, 0});
  ask({Op::MultiGet, {"a", "b"}, {}, 0});
  ask({Op::Wait, {"a", "never"}, {}, 0});
  ask({Op::QueuePush, {"jobs"}, {"one"}, 0});
  ask({Op::QueueLength, {"jobs"}, {}, 0});
  ask({Op::QueuePop, {"jobs"}, {}, 0});
  ask({Op::TryQueuePop, {"jobs"}, {}, 0});
  ask({Op::Delete, {"key"}, {}, 0});
  ask({Op::Check, {"key"}, {}, 0});
  ask({Op::NumKeys, {}, {}, 0});
  append(client, wire::pack(stores::StoreFrame::FollowKey, 0, stores::FollowKey{"key"}));
  write("store/client", client);
  write("store/half", {client.begin(), client.begin() + 50});
}

void write_summary(const std::string& name, runner::TestRecord test) {
  runner::RunRecord run = report::samples::empty_run();
  report::samples::add(run, std::move(test));
  const std::string text = report::summary_json(run);
  write("summary/" + name, {}, text);
}

// Summaries of whole runs, as an import gets them.
void write_history(const std::string& name, std::vector<runner::TestRecord> tests) {
  runner::RunRecord run = report::samples::empty_run();
  for (runner::TestRecord& test : tests) {
    for (runner::AttemptRecord& attempt : test.attempts) attempt.ranks.clear();
    report::samples::add(run, std::move(test));
  }
  write("history/" + name, {}, report::summary_json(run));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  corpus = argv[1];
  write_frames();
  write_tables();
  write_stacks("inlined", evidence::samples::inlined());
  write_stacks("kernel", evidence::samples::one_in_kernel());
  write_stacks("stripped", evidence::samples::stripped());
  write_stacks("without_answers", evidence::samples::without_answers());
  write_board();
  write_daemon();
  write_store();
  write_summary("passing", report::samples::passing());
  write_summary("failing", report::samples::failing());
  write_summary("leaking", report::samples::leaking());
  write_history("one", {report::samples::passing()});
  write_history("flaky", {report::samples::flaky(), report::samples::skipped(), report::samples::cancelled()});
  write_history("often", std::vector(5, report::samples::failing()));
  return 0;
}
