#include <catch2/catch.hpp>

#include <distrun/common/base/rng.hpp>

#include "messages.hpp"

using namespace distrun;
using namespace distrun::wire;

namespace {

// Every shape that the codec supports, nested.
struct Shapes {
  bool flag = false;
  Phase phase = Phase::Spawn;
  double ratio = 0;
  std::optional<std::string> maybe;
  std::vector<std::vector<std::int32_t>> rows;
  std::vector<std::optional<KeyValue>> pairs;
  friend bool operator==(const Shapes&, const Shapes&) = default;
};
DISTRUN_FIELDS(Shapes, m.flag, m.phase, m.ratio, m.maybe, m.rows, m.pairs)

}  // namespace

TEST_CASE("every kind of field is read back unchanged") {
  Shapes shapes{true, Phase::Body, 0.25, "x", {{1, -2}, {}, {3}}, {KeyValue{"a", "b"}, std::nullopt}};
  CHECK(decode<Shapes>(view_of(encode(shapes))) == shapes);
  CHECK(decode<Shapes>(view_of(encode(Shapes{}))) == Shapes{});
}

TEST_CASE("every message is read back unchanged") {
  samples::each_message([](const auto& message) {
    const Bytes bytes = encode(message);
    using Message = std::decay_t<decltype(message)>;
    CHECK(encode(decode<Message>(view_of(bytes))) == bytes);
  });
  const auto order = decode<RunOrder>(view_of(encode(samples::run_order())));
  CHECK(order.seed == 0xfedcba9876543210ULL);
  CHECK(order.init_method == "file:///tmp/run/1/rendezvous");
  CHECK(order.env == samples::run_order().env);
}

TEST_CASE("a message that is truncated at any byte is refused") {
  samples::each_message([](const auto& message) {
    using Message = std::decay_t<decltype(message)>;
    const Bytes bytes = encode(message);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      // A copy of exactly that size, so that a sanitizer detects reads beyond it.
      const Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
      CHECK_THROWS_AS(decode<Message>(view_of(cut)), Error);
    }
  });
}

TEST_CASE("a message with an extra byte is refused") {
  samples::each_message([](const auto& message) {
    using Message = std::decay_t<decltype(message)>;
    Bytes bytes = encode(message);
    bytes.push_back(std::byte{0});
    CHECK_THROWS_WITH(decode<Message>(view_of(bytes)), "1 bytes too many at the end of a message");
  });
}

TEST_CASE("a message with wrong bytes is read or refused, without side effects") {
  base::Rng rng(GENERATE(1U, 2U, 3U));
  samples::each_message([&](const auto& message) {
    using Message = std::decay_t<decltype(message)>;
    const Bytes good = encode(message);
    for (int i = 0; i < 300; ++i) {
      Bytes bad = good;
      for (std::uint64_t n = 1 + rng.below(4); n > 0; --n) bad[rng.below(bad.size())] = std::byte(rng.below(256));
      std::size_t size = bad.size();
      ErrorKind kind = ErrorKind::InvalidArgument;
      try {
        // Decoded messages encode to the same bytes, except for a bool, for which any nonzero byte is accepted.
        size = encode(decode<Message>(view_of(bad))).size();
      } catch (const Error& error) {
        kind = error.kind();
      }
      if (size != bad.size() || kind != ErrorKind::InvalidArgument) FAIL("in round " << i);
    }
  });
}

TEST_CASE("phases have the names that reports use") {
  const std::vector<std::string> names{"spawn", "load", "rendezvous", "set-up", "body", "tear-down", "exit"};
  REQUIRE(names.size() == kPhaseCount);
  for (int i = 0; i < kPhaseCount; ++i) CHECK(name_of(static_cast<Phase>(i)) == names[static_cast<std::size_t>(i)]);
  CHECK(std::string(name_of(static_cast<Phase>(200))) == "unknown");
}
