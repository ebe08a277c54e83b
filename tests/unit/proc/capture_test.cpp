#include <catch2/catch.hpp>

#include <distrun/common/base/rng.hpp>
#include <distrun/runner/proc/capture.hpp>

using distrun::base::Rng;
using distrun::proc::Capture;

namespace {

// The whole stream, and the expected result of a capture.
struct Model {
  std::size_t cap;
  std::string all;

  std::string text() const {
    if (all.size() <= cap) return all;
    const std::size_t head = cap / 4;
    const std::size_t tail = cap - head;
    return all.substr(0, head) + "\n[distrun: " + std::to_string(all.size() - cap) + " bytes left out here]\n" +
           all.substr(all.size() - tail);
  }
};

}  // namespace

TEST_CASE("a stream within its cap is kept unchanged") {
  Capture capture(8);
  capture.append("abc");
  capture.append("");
  capture.append("defgh");
  CHECK(capture.text() == "abcdefgh");
  CHECK(capture.dropped() == 0);
  CHECK(capture.captured().bytes_total == 8);
}

TEST_CASE("a stream over its cap keeps a quarter from its beginning and the rest from its end") {
  Capture capture(8);
  capture.append("0123456789");
  CHECK(capture.text() == "01\n[distrun: 2 bytes left out here]\n456789");
  const distrun::proc::Captured captured = capture.captured();
  CHECK(captured.text == capture.text());
  CHECK(captured.bytes_total == 10);
  CHECK(captured.bytes_dropped == 2);
}

TEST_CASE("a capture equals its model, for any cap and any pieces") {
  Rng rng(GENERATE(range(1U, 9U)));
  for (const std::size_t cap : std::vector<std::size_t>{0, 1, 3, 4, 64, 1000}) {
    Capture capture(cap);
    Model model{cap, ""};
    for (int i = 0; i < 200; ++i) {
      std::string piece(rng.below(cap + 8), ' ');
      for (char& c : piece) c = static_cast<char>(rng.below(256));
      capture.append(piece);
      model.all += piece;
      if (capture.text() != model.text()) FAIL("cap " << cap << ", piece " << i);
      const std::size_t dropped = model.all.size() - std::min(model.all.size(), cap);
      if (capture.dropped() != dropped) FAIL("cap " << cap << ": dropped " << capture.dropped());
    }
    CHECK(capture.captured().bytes_total == model.all.size());
  }
}

TEST_CASE("the cost of a flood is limited by its cap") {
  Capture capture(1 << 16);
  const std::string piece(1 << 16, 'x');
  for (int i = 0; i < 4096; ++i) capture.append(piece);
  CHECK(capture.captured().bytes_total == std::uint64_t{1} << 28);
  CHECK(capture.text().size() < (1 << 16) + 100);
}
