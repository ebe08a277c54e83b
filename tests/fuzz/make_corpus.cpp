// Writes the corpora that are not written by hand, with the project's encoders: make_corpus DIRECTORY. Run it again
// when a message changes.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <agents/pipe/handshake.hpp>
#include <agents/pipe/message_stream.hpp>
#include <distrun/common/board/layout.hpp>
#include <distrun/common/store_server/tcp_protocol.hpp>
#include <distrun/common/wire/frame.hpp>
#include <distrun/common/wire/stacks.hpp>
#include <distrun/runner/report/json/summary.hpp>
#include <distrun/runtime/profiler/remote_events.hpp>
#include <distrun/runtime/rpc/calls/call_codec.hpp>
#include <distrun/runtime/rpc/calls/error_codec.hpp>
#include <distrun/runtime/rpc/functions/register_class.hpp>
#include <distrun/runtime/rpc/graph/builder.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/io/safetensors.hpp>
#include <distrun/runtime/tensor/sparse/sparse.hpp>

#include "../unit/evidence/samples.hpp"
#include "../unit/pipe/fake_stream.hpp"
#include "../unit/report/samples.hpp"
#include "../unit/wire/messages.hpp"
#include "corpus.hpp"
#include "group_memory_scribbles.hpp"

namespace {

using namespace distrun;
using fuzz::write;
using wire::ControlFrame;
using wire::DaemonFrame;
using wire::ProbeFrame;

std::filesystem::path corpus;

}  // namespace

void fuzz::write(const std::string& name, const wire::Bytes& bytes, const std::string& before) {
  std::filesystem::create_directories((corpus / name).parent_path());
  std::ofstream out(corpus / name, std::ios::binary);
  out << before;
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

namespace {

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
  append(rank, wire::pack(ControlFrame::Measure, 1, wire::Measure{"rate", 12.5, "GB/s"}));
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

// The output of a probe.
void write_stacks(const std::string& name, const evidence::Stacks& stacks) {
  wire::Bytes bytes = wire::pack(ProbeFrame::Table, 0, wire::StackTable{stacks.table});
  for (const evidence::Process& process : stacks.processes) {
    const wire::ProcessStacks told = {process.index, process.pid, process.command, process.threads, process.why_none};
    append(bytes, wire::pack(ProbeFrame::Process, 0, told));
  }
  append(bytes, wire::pack(ProbeFrame::Done, 0, wire::ProbeDone{}));
  write("stacks/" + name, bytes);
}

// Instructions of board_fuzz.cpp: position (3 bytes), count (1), and the bytes.
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

// A client that makes each request once.
void write_store() {
  using stores::Op;
  wire::Bytes client;
  const auto ask = [&](stores::Request request) {
    append(client, wire::pack(stores::StoreFrame::Ask, 0, stores::Ask{1, 1000, 2000, std::move(request)}));
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

// Functions as callers send them: with operators, and without.
void write_graphs() {
  rpc::GraphBuilder heavy("heavy");
  const rpc::GraphValue tensor = heavy.parameter("tensor");
  heavy.for_each(1, 100, [&](rpc::GraphValue i) {
    heavy.op("mul_", tensor, i);
    heavy.op("div_", tensor, i + 1);
  });
  write("graph/heavy", heavy.returns(0)->encoded().bytes);

  rpc::GraphBuilder inner("inner");
  const rpc::GraphValue x = inner.parameter("x");
  inner.branch(
      x % 2 == 0, [&] { inner.return_now(x * 2.5); }, [&] { inner.raise("odd", "ValueError"); });
  const auto callee = inner.returns();
  rpc::GraphBuilder outer("outer");
  const rpc::GraphValue count = outer.parameter("count"), text = outer.parameter("text");
  const rpc::GraphValue all = outer.variable(outer.list());
  outer.for_each(count, 0, -1,
                 [&](rpc::GraphValue i) { outer.assign(all, all + outer.list(outer.call(callee, i * 2))); });
  const rpc::GraphValue map = outer.map({{"all", all}, {1, outer.tuple(text, outer.constant(tensor::ones({2})))}});
  write("graph/calls", outer.returns(outer.item(map, "all"))->encoded().bytes);
  write("graph/raises", callee->encoded().bytes);
}

// A class that the fuzzers know, too.
struct Box {
  std::string text;
};

// The tensors are those of the fuzzers, in their order.
rpc::Value every_kind() {
  const Tensor indices = tensor::from_values<std::int64_t>({0, 2, 1, 0}, Dims{2, 2}), values = tensor::ones({2});
  const rpc::Value sparse(tensor::sparse_coo(indices, values, {3, 4}));
  rpc::Map map;
  map.items.emplace_back(rpc::to_value(WorkerInfo("worker1", 1)), rpc::Value(device::cuda(1)));
  rpc::ValueList items{sparse, rpc::to_value(std::tuple(1, 0.5, true, "text")), rpc::Value(std::move(map))};
  for (const Tensor& each : {values, Tensor(), tensor::zeros({0, 3})}) items.push_back(rpc::Value(Tensor(each)));
  items.push_back(rpc::Value(rpc::Record{{rpc::Value(rpc::FunctionName{"f"}), rpc::Value(), sparse}}));
  items.push_back(rpc::to_value(Box{"inside"}));
  return rpc::Value(rpc::List{std::move(items)});
}

void write_values() {
  rpc::RegisterClass<Box>("Box").by_value([](const Box& object) { return object.text; },
                                          [](const std::string& text) { return Box{text}; });
  write("value/every_kind", rpc::pack(every_kind()).bytes);
  write("value/sparse", rpc::pack(every_kind().get_if<rpc::List>()->items[0]).bytes);
  write("value/nested",
        rpc::pack(rpc::to_value(std::vector<std::vector<std::vector<int>>>{{{1}}, {{2, 3}, {}}})).bytes);
}

// Events of a call from 1000 to 2000 ns.
void write_profiles() {
  const auto event = [](const std::string& name, std::int64_t begin, std::int64_t end) {
    profiler::Event made;
    made.name = name;
    made.begin = base::TimePoint(base::Nanoseconds(begin));
    made.end = base::TimePoint(base::Nanoseconds(end));
    return made;
  };
  profiler::Event full = event("aten::add", 1200, 1300);
  full.node = 1;
  full.sequence = 9;
  full.cpu_memory = 400;
  full.input_shapes = {{2, 3}, {}};
  full.device_time = base::Nanoseconds(50);
  full.kernels = {{"aten::add", 1, base::Nanoseconds(50)}};
  full.notes = {{"Group size", "4"}};
  write("profile/full", profiler::encode_events({event("##forward##", 1100, 1400), full}, 3));
  write("profile/another_clock", profiler::encode_events({event("a", 7'000'000, 7'000'100)}, 0));
  write("profile/nothing", profiler::encode_events({}, 0));
  write("profile/options", profiler::encode_options({.record_shapes = true, .profile_memory = true}));
}

// After a byte that selects the kind.
void write_calls() {
  const std::string call(1, '\0'), reply = "\1", error = "\2";
  rpc::Arguments arguments;
  arguments.positional = {rpc::Value(tensor::ones({2})), rpc::to_value(Box{"inside"})};
  arguments.named.emplace_back("b", rpc::to_value(2));
  const auto write_one = [&](const char* name, const rpc::CallHead& head) {
    rpc::Message message;
    rpc::write_call(message, head, arguments);
    write(name, message.payload, call);
  };
  write_one("call/function", {rpc::CalleeKind::Function, false, false, "my_function", "", {}, nullptr});
  write_one("call/method", {rpc::CalleeKind::Function, false, false, "my_function", "Stage.forward", {}, nullptr});
  rpc::GraphBuilder g("plus");
  const rpc::GraphValue x = g.parameter("x");
  const auto graph = g.returns(g.op("add", x, g.constant(tensor::ones({2}))));
  write_one("call/graph", {rpc::CalleeKind::Graph, true, false, "plus", "", graph->hash(), graph});
  rpc::Message answer, with_object;
  rpc::write_reply(answer, rpc::to_value(std::pair(1, "x")));
  rpc::write_reply(with_object, rpc::to_value(Box{"inside"}));
  write("call/reply", answer.payload, reply);
  write("call/reply_with_object", with_object.payload, reply);
  Error thrown(ErrorKind::InvalidArgument, "ValueError", "text", {"callee.cpp", 42});
  wire::ByteWriter bytes;
  rpc::write_error(bytes, thrown.while_doing("something"), WorkerInfo("worker1", 1));
  write("call/error", bytes.take(), error);
}

// As in a peer's ring, after a byte that tells the size of the pieces.
void write_messages() {
  using namespace agents::pipe;
  const Tensor base = tensor::view(tensor::arange(24), {4, 6});
  testing::FakeStream stream;
  for (std::uint64_t number = 0; number < 3; ++number) {
    rpc::Message message;
    message.id = number;
    message.payload = wire::Bytes(3 * number, std::byte{7});
    if (number == 1) message.left = std::chrono::seconds(1);
    if (number == 1) message.sections = {{rpc::SectionTag::TraceParent, wire::Bytes(3)}};
    if (number != 0) message.tensors = {base, tensor::select_view(base, 1, 2), tensor::ones({3}), tensor::zeros({0})};
    OutgoingMessage outgoing(std::move(message), number == 2 ? 64 : 0);
    outgoing.set_number(number);
    outgoing.write_to(stream);
  }
  const wire::Bytes bytes(stream.bytes.begin(), stream.bytes.end());
  write("message_stream/whole", bytes, "\xff");
  write("message_stream/in_pieces", bytes, "\x0c");
}

// As in dist_autograd: the context, the message, its tensors, and their dependencies.
struct ContextOrigin {
  int from = 0;
  std::int64_t message = 0;
};
DISTRUN_FIELDS(ContextOrigin, m.from, m.message)
struct ContextSection {
  std::int64_t context = -1;
  std::int64_t message = -1;
  std::vector<std::uint32_t> places;
  bool knows_origins = false;
  std::vector<ContextOrigin> origins;
};
DISTRUN_FIELDS(ContextSection, m.context, m.message, m.places, m.knows_origins, m.origins)

void write_contexts() {
  write("autograd/no_context", wire::encode(ContextSection{-1, -1, {0, 2}, false, {}}));
  write("autograd/no_tensors", wire::encode(ContextSection{std::int64_t{1} << 48, -1, {}, false, {}}));
  write("autograd/call", wire::encode(ContextSection{5, 7, {2}, false, {}}));
  write("autograd/answer", wire::encode(ContextSection{5, 9, {0, 2}, true, {{0, 3}, {1, 4}}}));
  write("autograd/int", wire::encode(ContextSection{5, 7, {1}, false, {}}));
  write("autograd/beyond", wire::encode(ContextSection{5, 7, {3}, false, {}}));
}

void write_safetensors() {
  NamedTensors tensors{{"none", tensor::zeros({0, 3})}, {"number", tensor::scalar_tensor(0.5)}};
  for (const DType dtype : {DType::Bool, DType::U8, DType::I16, DType::I64, DType::F32, DType::F64})
    tensors.emplace_back(tensor::name_of(dtype), tensor::to(tensor::arange(2), dtype));
  write("safetensors/every_dtype", tensor::encode_safetensors(tensors, {{"format", "pt"}, {"\u00fc", "\n"}}));
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
  for (const auto& [name, bytes] : fuzz::group_memory_scribbles()) write("group_memory/" + name, bytes);
  write_daemon();
  write_store();
  fuzz::write_handshakes();
  fuzz::write_mirror();
  write_graphs();
  write_values();
  write_calls();
  write_profiles();
  write_messages();
  write_contexts();
  write_safetensors();
  write_summary("passing", report::samples::passing());
  write_summary("failing", report::samples::failing());
  write_summary("leaking", report::samples::leaking());
  write_history("one", {report::samples::passing()});
  write_history("flaky", {report::samples::flaky(), report::samples::skipped(), report::samples::cancelled()});
  write_history("often", std::vector(5, report::samples::failing()));
  return 0;
}
