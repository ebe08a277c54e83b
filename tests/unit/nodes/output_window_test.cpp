// Output between a node and its coordinator: nothing is lost or overtakes, and no side keeps more than a window.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/nodes/output_window.hpp>

namespace distrun::nodes {
namespace {

using launch::Stream;

constexpr std::uint64_t kMostOnItsWay = kOutputWindow + kOutputPieceMax;

// A node and its coordinator. Frames between them arrive when the test says so.
struct BothEnds {
  BothEnds() = default;
  BothEnds(const BothEnds&) = delete;
  BothEnds& operator=(const BothEnds&) = delete;

  void deliver_output() {
    for (OutputPiece& piece : std::exchange(sent, {})) receiver.take(0, std::move(piece));
  }
  void deliver_confirmations() {
    for (const std::uint64_t bytes : std::exchange(confirmed, {})) sender.confirm(bytes);
  }
  void deliver_all() {
    while (!sent.empty() || !confirmed.empty()) {
      deliver_output();
      deliver_confirmations();
    }
  }
  std::uint64_t sent_bytes() const {
    std::uint64_t bytes = 0;
    for (const OutputPiece& piece : sent) bytes += piece.bytes.size();
    return bytes;
  }

  std::vector<OutputPiece> sent;
  std::vector<std::uint64_t> confirmed;
  std::vector<bool> holds;  // calls of the node's hold()
  std::string shown;
  bool is_slow = false;  // the reader takes one more piece, and no other until it is read
  OutputSender sender{
      1,
      {[this](OutputPiece piece) { sent.push_back(std::move(piece)); }, [this](bool hold) { holds.push_back(hold); }}};
  OutputReceiver receiver{{[this](const OutputPiece& piece) {
                             shown += piece.bytes;
                             if (is_slow) receiver.hold(true);
                           },
                           [this](int, std::uint64_t bytes) { confirmed.push_back(bytes); }}};
};

std::string numbered(std::size_t bytes) {
  std::string text;
  for (int i = 0; text.size() < bytes; ++i) text += std::to_string(i) + "\n";
  text.resize(bytes);
  return text;
}

OutputPiece piece_of(std::size_t bytes) { return {1, 0, Stream::Out, std::string(bytes, 'x')}; }

}  // namespace

TEST_CASE("a node stops reading when a window of output is not confirmed, and resumes when it is") {
  BothEnds ends;
  std::string written;
  while (ends.holds.empty()) {
    written += numbered(10'000);
    ends.sender.add(3, Stream::Err, numbered(10'000));
    REQUIRE(written.size() <= kMostOnItsWay);
  }
  CHECK(ends.holds == std::vector<bool>{true});
  CHECK(ends.sent_bytes() == written.size());
  CHECK(ends.sent.front().rank == 3);
  CHECK(ends.sent.front().stream == Stream::Err);
  ends.deliver_all();
  CHECK(ends.holds == std::vector<bool>{true, false});
  CHECK(ends.shown == written);
}

TEST_CASE("a reader that takes nothing stops the node, and later gets everything in order") {
  BothEnds ends;
  ends.is_slow = true;
  ends.receiver.hold(true);
  const std::string text = numbered(kOutputWindow);
  ends.sender.add(0, Stream::Out, text);
  ends.deliver_all();
  CHECK(ends.shown.empty());
  CHECK(ends.holds == std::vector<bool>{true});
  std::size_t rounds = 0;
  while (ends.shown.size() < text.size()) {
    const std::size_t before = ends.shown.size();
    ends.receiver.hold(false);
    ends.receiver.pass_on();
    REQUIRE(ends.shown.size() - before <= kOutputPieceMax);  // one piece: the reader has held the rest back
    REQUIRE(++rounds < 100);
    ends.deliver_all();
  }
  CHECK(ends.shown == text);
  CHECK(ends.holds == std::vector<bool>{true, false});
}

TEST_CASE("what is read after reading was to stop is kept, and sent as the window opens") {
  BothEnds ends;
  const std::string text = numbered(5 * kOutputWindow);
  bool is_sent = false;
  ends.sender.add(0, Stream::Out, text);
  ends.sender.when_sent([&] { is_sent = true; });
  CHECK_FALSE(is_sent);
  while (!is_sent) {
    REQUIRE(ends.sent_bytes() > 0);
    REQUIRE(ends.sent_bytes() <= kMostOnItsWay);
    ends.deliver_output();
    ends.deliver_confirmations();
  }
  ends.deliver_all();
  CHECK(ends.shown == text);
}

TEST_CASE("without a holding reader all output is sent at once, and what follows it need not wait") {
  BothEnds ends;
  bool is_sent = false;
  ends.sender.add(0, Stream::Out, "last words");
  ends.sender.when_sent([&] { is_sent = true; });
  CHECK(is_sent);
}

TEST_CASE("nothing is held back once holds have ended") {
  BothEnds ends;
  ends.receiver.hold(true);
  ends.receiver.take(0, piece_of(10));
  CHECK(ends.shown.empty());
  ends.receiver.end_holds();
  ends.receiver.pass_on();
  ends.receiver.take(0, piece_of(10));
  CHECK(ends.shown.size() == 20);
}

TEST_CASE("each node has a window of its own") {
  BothEnds ends;
  ends.receiver.hold(true);
  for (const int node : {0, 1}) {
    for (std::uint64_t sent = 0; sent < kOutputWindow; sent += kOutputPieceMax) {
      ends.receiver.take(node, piece_of(kOutputPieceMax));
    }
  }
  ends.receiver.hold(false);
  ends.receiver.pass_on();
  CHECK(ends.shown.size() == 2 * kOutputWindow);
  CHECK(ends.confirmed.size() == 2 * kOutputWindow / kOutputPieceMax);
}

TEST_CASE("a node that sends more than it may, and a coordinator that confirms more than there was, are refused") {
  BothEnds ends;
  ends.receiver.hold(true);
  CHECK_THROWS_AS(ends.receiver.take(0, piece_of(0)), Error);
  CHECK_THROWS_AS(ends.receiver.take(0, piece_of(kOutputPieceMax + 1)), Error);
  for (std::uint64_t sent = 0; sent < kOutputWindow; sent += kOutputPieceMax) {
    ends.receiver.take(0, piece_of(kOutputPieceMax));
  }
  CHECK_THROWS_AS(ends.receiver.take(0, piece_of(1)), Error);
  ends.sender.add(0, Stream::Out, "four");
  CHECK_THROWS_AS(ends.sender.confirm(5), Error);
  CHECK_NOTHROW(ends.sender.confirm(4));
  CHECK_THROWS_AS(ends.sender.confirm(1), Error);
}

}  // namespace distrun::nodes
