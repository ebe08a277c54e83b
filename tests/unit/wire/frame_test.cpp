#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/common/wire/control.hpp>
#include <distrun/common/wire/daemon.hpp>
#include <distrun/common/wire/frame.hpp>
#include <distrun/common/wire/inspect.hpp>
#include <distrun/common/wire/stacks.hpp>

#include "messages.hpp"

using namespace distrun;
using namespace distrun::wire;

namespace {

template <class Kind>
std::vector<std::uint16_t> numbers(std::initializer_list<Kind> kinds) {
  std::vector<std::uint16_t> all;
  for (const Kind kind : kinds) all.push_back(static_cast<std::uint16_t>(kind));
  return all;
}

std::vector<std::uint16_t> of_control() {
  using enum ControlFrame;
  return numbers({Hello,          Phase,        Error, Skip,        Stacks,     BarrierEnter, Message,
                  Note,           Done,         Run,   ReceiveWait, DumpStacks, PeerFailed,   Finish,
                  BarrierRelease, PeerFinished, Leak,  ReceiveEnd,  Dismiss,    PeerDied,     Measure});
}
std::vector<std::uint16_t> of_probe() {
  using enum ProbeFrame;
  return numbers({Order, Table, Process, Done});
}
std::vector<std::uint16_t> of_inspect() {
  using enum InspectFrame;
  return numbers({Order, RunStatus, ToldStacks, ToldExamination});
}
std::vector<std::uint16_t> of_daemon() {
  using enum DaemonFrame;
  return numbers({Hello, SubmitRun, SignalRun, CancelRuns, AskStatus, Refusal, RunAccepted, RunPosition, RunStarted,
                  RunEnded, RunsCancelled, Status});
}

bool has(const std::vector<std::uint16_t>& kinds, std::uint16_t kind) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

void append(Bytes& bytes, const Bytes& more) { bytes.insert(bytes.end(), more.begin(), more.end()); }

// Returns one line per frame, to compare streams.
std::string take_all(FrameSplitter& splitter) {
  std::string text;
  while (const auto frame = splitter.next()) {
    text += std::to_string(frame->kind) + "/" + std::to_string(frame->rank) + " ";
    for (const std::byte byte : frame->payload) text += static_cast<char>(byte);
    text += "\n";
  }
  return text;
}

Bytes random_stream(base::Rng& rng) {
  Bytes bytes;
  for (int i = 0; i < 20; ++i) {
    const bool known = rng.below(5) != 0;
    const std::vector<std::uint16_t> kinds = of_control();
    const auto kind = known ? kinds[rng.below(kinds.size())] : static_cast<std::uint16_t>(0x8100 + rng.below(100));
    const Bytes payload(rng.below(4) == 0 ? 0 : rng.below(300), std::byte('a' + rng.below(26)));
    append(bytes, pack_frame(kind, static_cast<std::uint16_t>(rng.below(65536)), view_of(payload)));
  }
  return bytes;
}

Bytes header(std::uint32_t size, std::uint16_t kind) {
  ByteWriter writer;
  writer.number(size);
  writer.number(kind);
  writer.number(std::uint16_t{0});
  return writer.take();
}

}  // namespace

TEST_CASE("a frame is its payload's size, its kind, its rank and its payload") {
  const Bytes bytes = pack(ControlFrame::BarrierEnter, 513, BarrierEnter{"x"});
  const Bytes wanted{std::byte{5}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{6}, std::byte{0},  std::byte{1},
                     std::byte{2}, std::byte{1}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{'x'}};
  CHECK(bytes == wanted);
}

namespace {

void takes_only(const Protocol& protocol, const std::vector<std::uint16_t>& kinds) {
  for (unsigned number = 0; number < 0x10000; ++number) {
    const auto kind = static_cast<std::uint16_t>(number);
    FrameSplitter splitter(protocol);
    splitter.feed(view_of(pack_frame(kind, 0, {})));
    if (has(kinds, kind)) {
      if (!splitter.next()) FAIL("known kind " << number << " was dropped");
    } else if (is_optional(kind)) {
      if (splitter.next() || splitter.pending() != 0) FAIL("optional kind " << number << " was not dropped");
    } else {
      CHECK_THROWS_WITH(splitter.next(), "the received bytes are not a distrun message (unknown frame kind " +
                                             std::to_string(number) + ")");
    }
  }
}

}  // namespace

TEST_CASE("a line accepts every kind of its protocol, and only those") {
  takes_only(kProtocol<ControlFrame>, of_control());
  takes_only(kProtocol<ProbeFrame>, of_probe());
  takes_only(kProtocol<InspectFrame>, of_inspect());
  takes_only(kProtocol<DaemonFrame>, of_daemon());
}

TEST_CASE("no kind belongs to two protocols") {
  std::vector<std::uint16_t> all;
  for (const auto& kinds : {of_control(), of_probe(), of_inspect(), of_daemon()}) {
    for (const std::uint16_t kind : kinds) {
      CHECK_FALSE(has(all, kind));
      all.push_back(kind);
    }
  }
}

TEST_CASE("a stream gives the same frames byte by byte, in pieces and at once") {
  base::Rng rng(GENERATE(range(1U, 21U)));
  const Bytes bytes = random_stream(rng);
  FrameSplitter whole(kProtocol<ControlFrame>);
  whole.feed(view_of(bytes));
  const std::string wanted = take_all(whole);
  CHECK(whole.pending() == 0);

  FrameSplitter by_byte(kProtocol<ControlFrame>);
  std::string found;
  for (const std::byte& byte : bytes) {
    by_byte.feed(view_of(&byte, 1));
    found += take_all(by_byte);
  }
  CHECK(found == wanted);

  FrameSplitter in_pieces(kProtocol<ControlFrame>);
  found.clear();
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t size = std::min<std::size_t>(rng.below(200), bytes.size() - at);
    in_pieces.feed(view_of(bytes.data() + at, size));
    if (rng.below(3) != 0) found += take_all(in_pieces);
    at += size;
  }
  found += take_all(in_pieces);
  CHECK(found == wanted);
}

TEST_CASE("a frame that is truncated at any byte is waited for") {
  const Bytes bytes = pack(ControlFrame::Run, 2, samples::run_order());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    FrameSplitter splitter(kProtocol<ControlFrame>);
    splitter.feed(view_of(bytes.data(), size));
    if (splitter.next() || splitter.pending() != size) FAIL("cut at " << size);
  }
}

TEST_CASE("a payload of the maximum size passes and one byte more is refused on both sides") {
  Bytes payload(kFramePayloadMax);
  FrameSplitter splitter(kProtocol<ControlFrame>);
  splitter.feed(view_of(pack_frame(ControlFrame::Stacks, 1, view_of(payload))));
  const auto frame = splitter.next();
  REQUIRE(frame);
  CHECK(frame->payload.size() == kFramePayloadMax);
  payload.push_back(std::byte{0});
  CHECK_THROWS_WITH(pack_frame(ControlFrame::Stacks, 1, view_of(payload)), Catch::Contains("over the limit of 64 MiB"));
}

TEST_CASE("a splitter tells the size of a frame that has arrived in part, once its header is there") {
  FrameSplitter splitter(kProtocol<ControlFrame>);
  const Bytes frame = pack_frame(ControlFrame::Stacks, 1, view_of(Bytes(5000)));
  CHECK(splitter.announced() == 0);
  splitter.feed(view_of(frame.data(), kFrameHeaderSize - 1));
  CHECK(splitter.announced() == 0);
  splitter.feed(view_of(frame.data() + kFrameHeaderSize - 1, 100));
  CHECK_FALSE(splitter.next());
  CHECK(splitter.announced() == frame.size());
  splitter.feed(view_of(frame.data() + kFrameHeaderSize + 99, frame.size() - kFrameHeaderSize - 99));
  CHECK(splitter.next());
  CHECK(splitter.announced() == 0);
}

TEST_CASE("a large frame takes no more memory than its size, and that is freed once it is taken") {
  constexpr std::size_t kPiece = 64 << 10;
  FrameSplitter splitter(kProtocol<ControlFrame>);
  Bytes stream = pack_frame(ControlFrame::Stacks, 1, view_of(Bytes(5'000'000)));
  const std::size_t large = stream.size();
  append(stream, pack_frame(ControlFrame::Stacks, 2, view_of(Bytes(10))));
  for (std::size_t at = 0; at < stream.size(); at += kPiece) {
    splitter.feed(view_of(stream.data() + at, std::min(kPiece, stream.size() - at)));
    CHECK(splitter.capacity() <= large + kPiece);
    if (at + kPiece < large) CHECK_FALSE(splitter.next());
  }
  CHECK(splitter.next()->payload.size() == 5'000'000);
  const bool with_more = GENERATE(true, false);
  if (with_more) {
    splitter.feed({});
    CHECK(splitter.capacity() < kPiece);
  }
  CHECK(splitter.next()->payload.size() == 10);
  CHECK(splitter.capacity() < kPiece);
}

TEST_CASE("a size over the limit is refused before its payload has arrived") {
  FrameSplitter splitter(kProtocol<ControlFrame>);
  splitter.feed(view_of(header(static_cast<std::uint32_t>(kFramePayloadMax) + 1, 1)));
  CHECK_THROWS_WITH(splitter.next(), "a frame announces 67108865 bytes; the limit is 64 MiB");
}

TEST_CASE("an unknown optional kind has the same limits as others") {
  FrameSplitter splitter(kProtocol<ControlFrame>);
  splitter.feed(view_of(header(0xffffffff, 0x8123)));
  CHECK_THROWS_AS(splitter.next(), Error);
}

TEST_CASE("a splitter that has refused a frame refuses all later ones") {
  FrameSplitter splitter(kProtocol<ControlFrame>);
  splitter.feed(view_of(header(0, 77)));
  splitter.feed(view_of(pack_frame(ControlFrame::Done, 0, {})));
  CHECK_THROWS_AS(splitter.next(), Error);
  CHECK_THROWS_AS(splitter.next(), Error);
}
