#include <catch2/catch.hpp>

#include <limits>

#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/buffer.hpp>

using namespace distrun;
using namespace distrun::wire;

TEST_CASE("numbers are written little-endian and read back at their limits") {
  ByteWriter writer;
  writer.number(std::uint32_t{0x01020304});
  writer.number(std::numeric_limits<std::int64_t>::min());
  writer.number(-0.5);
  CHECK(writer.bytes()[0] == std::byte{4});
  CHECK(writer.bytes()[3] == std::byte{1});
  ByteReader reader(view_of(writer.bytes()));
  CHECK(reader.number<std::uint32_t>() == 0x01020304);
  CHECK(reader.number<std::int64_t>() == std::numeric_limits<std::int64_t>::min());
  CHECK(reader.number<double>() == -0.5);
  CHECK_NOTHROW(reader.expect_end());
}

TEST_CASE("appended data keeps its order, for any sizes") {
  ByteWriter writer;
  std::string all;
  for (std::size_t size = 0; size < 1500; size = 2 * size + 1) {
    const std::string text(size, static_cast<char>('a' + size % 26));
    writer.append(text.data(), text.size());
    writer.number(static_cast<std::uint8_t>('.'));
    all += text + '.';
    CHECK(writer.bytes().size() == all.size());
  }
  for (int i = 0; i < 1500; ++i)
    writer.number(static_cast<std::uint8_t>('0' + i % 10)), all += static_cast<char>('0' + i % 10);
  const Bytes bytes = writer.take();
  CHECK(view_of(bytes) == view_of(all.data(), all.size()));
  CHECK(writer.take().empty());
}

TEST_CASE("strings contain any bytes, and may be empty") {
  const std::string text("a\0\xff", 3);
  ByteWriter writer;
  writer.string(text);
  writer.string("");
  const Bytes bytes = writer.take();
  ByteReader reader(view_of(bytes));
  CHECK(reader.string() == text);
  CHECK(reader.string().empty());
  CHECK(reader.remaining() == 0);
}

TEST_CASE("reading beyond the end is an error that counts the bytes") {
  const Bytes bytes(3);
  ByteReader reader(view_of(bytes));
  CHECK_THROWS_WITH(reader.number<std::uint32_t>(), "message ends early: 4 bytes expected, 3 left");
  CHECK(reader.remaining() == 3);
}

TEST_CASE("a length is checked before any memory is allocated for it") {
  ByteWriter writer;
  writer.number(std::uint32_t{0xffffffff});
  ByteReader string_reader(view_of(writer.bytes()));
  CHECK_THROWS_AS(string_reader.string(), Error);
  ByteReader list_reader(view_of(writer.bytes()));
  CHECK_THROWS_WITH(list_reader.count(1), Catch::Contains("4294967295 elements"));
}

TEST_CASE("a list must fit the rest of its message with its elements' minimum size") {
  ByteWriter writer;
  writer.number(std::uint32_t{3});
  writer.number(std::uint64_t{0});
  ByteReader fits(view_of(writer.bytes()));
  CHECK(fits.count(2) == 3);
  ByteReader does_not(view_of(writer.bytes()));
  CHECK_THROWS_AS(does_not.count(3), Error);
}

TEST_CASE("bytes after the end are refused") {
  const Bytes bytes(2);
  const ByteReader reader(view_of(bytes));
  CHECK_THROWS_WITH(reader.expect_end(), "2 bytes too many at the end of a message");
}
