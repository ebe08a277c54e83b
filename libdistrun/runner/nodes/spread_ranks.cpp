#include <distrun/runner/nodes/spread_ranks.hpp>

#include <signal.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include <distrun/common/base/error.hpp>

namespace distrun::nodes {
namespace {

constexpr std::size_t kEarlyMax = 1 << 16;  // bytes of the frames of ranks that wait for their world, of each rank

std::string ranks_text(int first, int count) {
  return count == 1 ? std::to_string(first) : std::to_string(first) + "-" + std::to_string(first + count - 1);
}

// Throws Error{InvalidArgument} if the rank does not run on that node.
int checked(int rank, const SpreadRanks::Part& part) {
  if (rank >= part.first && rank - part.first < part.count) return rank;
  throw Error(ErrorKind::InvalidArgument, "a rank that does not run there");
}

launch::Spread spread_of(const std::vector<SpreadRanks::Part>& parts) {
  launch::Spread spread;
  for (const SpreadRanks::Part& part : parts) {
    spread.host_of.insert(spread.host_of.end(), static_cast<std::size_t>(part.count), part.node->host());
    spread.hosts += (spread.hosts.empty() ? "" : ";") + part.node->host() + "=" + ranks_text(part.first, part.count);
  }
  if (parts.size() == 1) spread.hosts.clear();
  spread.master_address = parts.size() == 1 ? "127.0.0.1" : parts.front().node->address();
  return spread;
}

}  // namespace

SpreadRanks::SpreadRanks(io::Loop& loop, launch::WorldEvents& events, std::uint32_t world, std::vector<Part> parts)
    : loop_(loop),
      events_(events),
      world_(world),
      parts_(std::move(parts)),
      spread_(spread_of(parts_)),
      ranks_(spread_.host_of.size()),
      output_({[this](const OutputPiece& piece) { events_.on_output(piece.rank, piece.stream, piece.bytes); },
               [this](int node, std::uint64_t bytes) {
                 part_on(node).node->tell(wire::NodeFrame::ConfirmOutput, ConfirmedBytes{world_, bytes});
               }}),
      traces_(loop, world) {}

// A search, since each frame asks for one.
const SpreadRanks::Part& SpreadRanks::part_of(int rank) const {
  return *std::prev(
      std::partition_point(parts_.begin(), parts_.end(), [rank](const Part& part) { return part.first <= rank; }));
}

SpreadRanks::Part& SpreadRanks::part_on(int node) {
  return *std::partition_point(parts_.begin(), parts_.end(),
                               [node](const Part& part) { return part.node->number() < node; });
}

void SpreadRanks::expect_program(const launch::ProgramSpec& program) {
  seen_.begin(ranks_.size(), program.keep_output);
  stdin_rank_ = program.stdin_rank;
  stdin_fd_ = program.stdin_fd;
}

proc::Captured SpreadRanks::captured(int rank, launch::Stream stream) const {
  if (seen_.has_begun()) return seen_.of(rank, stream);
  return stream == launch::Stream::Out ? at(rank).out : at(rank).err;
}

void SpreadRanks::forget_output() {
  for (RankMirror& rank : ranks_) rank.out = rank.err = {};
}

// ---- orders to all nodes

void SpreadRanks::ask(wire::NodeFrame order, const WorldOrder& what, OnAnswers on_answers) {
  asked_ = order;
  answers_ = {};
  on_answers_ = std::move(on_answers);
  for (Part& part : parts_) {
    part.is_asked = part.has_begun && !part.is_lost && part.node->lost().empty();
    if (part.is_asked) part.node->tell(order, what);
  }
}

void SpreadRanks::check_answers() {
  if (!on_answers_ || std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.is_asked; })) return;
  output_.pass_on();
  std::exchange(on_answers_, {})(std::move(answers_));
}

void SpreadRanks::note_answer(Part& part, wire::NodeFrame order) {
  if (!part.is_asked || asked_ != order) throw Error(ErrorKind::InvalidArgument, "an answer without an order");
  part.is_asked = false;
  check_answers();
}

void SpreadRanks::on_inspected(Part& part, const Inspected& answer) {
  // Ranks may have been dismissed and swept up before the answer came.
  if (asked_ != wire::NodeFrame::Inspect) return;
  answers_.is_clean = answers_.is_clean && answer.is_clean;
  use_ports(part, answer.ports);
  note_answer(part, wire::NodeFrame::Inspect);
}

void SpreadRanks::on_swept(Part& part, Swept answer) {
  for (launch::LeftBehind& each : answer.left) {
    each.what += " on " + part.node->host();
    answers_.left.push_back(std::move(each));
  }
  note_answer(part, wire::NodeFrame::Sweep);
}

// ---- what the nodes tell

void SpreadRanks::take(int node, const wire::Frame& frame) {
  const std::shared_ptr<SpreadRanks> self = shared_from_this();  // an event may release it
  Part& part = part_on(node);
  if (!part.is_lost) take_checked(part, frame);
}

void SpreadRanks::take_checked(Part& part, const wire::Frame& frame) {
  using Kind = wire::NodeFrame;
  switch (frame.kind_as<Kind>()) {
    case Kind::Spawned: return on_spawned(part, payload<Spawned>(frame));
    case Kind::State: return take_state(part, payload<WorldState>(frame));
    case Kind::FromRank: return on_frame_of_rank(part, frame);
    case Kind::RankEnded: return on_ended(part, payload<RankEnded>(frame));
    case Kind::Captured: return on_captured(part, payload<CapturedStream>(frame));
    case Kind::Inspected: return on_inspected(part, payload<Inspected>(frame));
    case Kind::Swept: return on_swept(part, payload<Swept>(frame));
    case Kind::TracePart: return traces_.take(part.node->number(), payload<TracePart>(frame));
    case Kind::SpawnFailed:
      return events_.on_spawn_failed(payload<RankText>(frame).text + " (on " + part.node->host() + ")");
    case Kind::RankStarted: {
      const auto started = payload<RankStarted>(frame);
      mirror_of(checked(started.rank, part)).pid = started.pid;
      return events_.on_rank_started(started.rank, started.pid);
    }
    case Kind::ConnectionLost: {
      const auto lost = payload<RankText>(frame);
      return events_.on_connection_lost(checked(lost.rank, part), lost.text);
    }
    case Kind::StrayChild: return events_.on_stray_child(checked(payload<RankText>(frame).rank, part));
    case Kind::ProgramBegan: return events_.on_program(checked(payload<RankStarted>(frame).rank, part));
    case Kind::ConfirmInput: {
      const bool is_sent_there = input_ && &part == &part_of(stdin_rank_);
      if (!is_sent_there) throw Error(ErrorKind::InvalidArgument, "input was not sent there");
      return input_->confirm(payload<ConfirmedBytes>(frame).bytes);
    }
    case Kind::Output: return on_output(part, payload<OutputPiece>(frame));
    default: throw Error(ErrorKind::InvalidArgument, "no frame of a world");
  }
}

void SpreadRanks::take_state(const Part& part, WorldState state) {
  for (RankView& view : state.ranks) {
    const int rank = checked(view.rank, part);
    mirror_of(rank).take(std::move(view), part.node->offset(), static_cast<int>(ranks_.size()));
  }
}

void SpreadRanks::use_ports(const Part& part, const Ports& ports) {
  if (part.first != 0) return;
  spread_.master_port = ports.master;
  spread_.rendezvous_port = ports.rendezvous;
}

// The orders of all ranks name the ports of rank 0's host.
void SpreadRanks::on_spawned(Part& part, const Spawned& answer) {
  if (std::exchange(part.has_spawned, true)) return;
  use_ports(part, answer.ports);
  if (seen_.has_begun()) return begin_program();
  if (part.first != 0) return;
  may_begin_ = true;
  for (const wire::Frame& frame : std::exchange(early_, {})) on_frame_of_rank(part_on(frame.rank), frame);
}

// Once all hosts can start it: no rank of a program begins if one of them lacks it.
void SpreadRanks::begin_program() {
  if (!std::all_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.has_spawned; })) return;
  may_begin_ = true;
  for (const Part& part : parts_) {
    part.node->tell(wire::NodeFrame::Begin, BeginOrder{world_, spread_.master_port});
  }
  if (stdin_rank_ < 0) return;
  RemoteNode& node = *part_of(stdin_rank_).node;
  const auto send = [this, &node](std::string bytes) {
    node.tell(wire::NodeFrame::Input, InputPiece{world_, std::move(bytes)});
  };
  try {
    input_ = std::make_unique<InputSource>(loop_, stdin_fd_, send);
  } catch (const Error& error) {
    events_.on_spawn_failed(error.what());
  }
}

void SpreadRanks::on_output(const Part& part, OutputPiece piece) {
  checked(piece.rank, part);
  if (piece.stream != launch::Stream::Err) piece.stream = launch::Stream::Out;
  seen_.add(piece);
  output_.take(part.node->number(), std::move(piece));
}

void SpreadRanks::on_frame_of_rank(const Part& part, const wire::Frame& frame) {
  if (!may_begin_) {
    if (frame.payload.size() > kEarlyMax || early_.size() > ranks_.size()) {
      throw Error(ErrorKind::InvalidArgument, "too much of a rank that has no order yet");
    }
    early_.emplace_back(frame.kind, static_cast<std::uint16_t>(part.node->number()), frame.payload);
    return;
  }
  const auto bytes = payload<RankBytes>(frame);
  const int rank = checked(bytes.rank, part);
  mirror_of(rank).seen_at = part.node->moment(bytes.at_ns);
  wire::FrameSplitter splitter(wire::kProtocol<wire::ControlFrame>);
  splitter.feed(bytes_of(bytes.bytes));
  while (const std::optional<wire::Frame> inner = splitter.next()) events_.on_frame(rank, *inner);
}

void SpreadRanks::on_ended(const Part& part, RankEnded ended) {
  const int rank = checked(ended.last.rank, part);
  RankMirror& mirror = mirror_of(rank);
  if (mirror.has_ended) throw Error(ErrorKind::InvalidArgument, "a rank that ended twice");
  mirror.take(std::move(ended.last), part.node->offset(), static_cast<int>(ranks_.size()));
  mirror.has_ended = true;
  mirror.seen_at = part.node->moment(ended.at_ns);
  const proc::ExitStatus status =
      ended.signal != 0 ? proc::ExitStatus::of_signal(ended.signal) : proc::ExitStatus::of_code(ended.code);
  events_.on_rank_ended(rank, status, ended.because_of);
}

void SpreadRanks::on_captured(const Part& part, CapturedStream captured) {
  RankMirror& mirror = mirror_of(checked(captured.rank, part));
  proc::Captured& kept = captured.stream == launch::Stream::Err ? mirror.err : mirror.out;
  kept = {std::move(captured.text), captured.bytes_total, captured.bytes_dropped};
}

void SpreadRanks::lose(int node, const std::string& why) {
  const std::shared_ptr<SpreadRanks> self = shared_from_this();
  Part& part = part_on(node);
  if (std::exchange(part.is_lost, true)) return;
  std::vector<int> ranks;
  for (int rank = part.first; rank < part.first + part.count; ++rank) ranks.push_back(rank);
  events_.on_host_lost(ranks, why);
  for (const int rank : ranks) {
    RankMirror& mirror = mirror_of(rank);
    if (mirror.pid == 0 || std::exchange(mirror.has_ended, true)) continue;
    events_.on_rank_ended(rank, proc::ExitStatus::of_signal(SIGKILL), -1);
  }
  part.is_asked = false;
  check_answers();
  traces_.lose(node, why);
}

}  // namespace distrun::nodes
