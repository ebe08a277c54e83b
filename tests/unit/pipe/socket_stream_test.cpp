// Bytes through a socket, in pieces of any size, and its end.
#include <catch2/catch.hpp>

#include <sys/socket.h>

#include <cstring>
#include <numeric>
#include <thread>

#include <agents/pipe/transports/listener.hpp>
#include <agents/pipe/transports/socket_stream.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>

namespace distrun::agents::pipe {
namespace {

struct Ends {
  std::unique_ptr<SocketStream> one;
  std::unique_ptr<SocketStream> two;
};

Ends make_ends(SocketKind kind) {
  const Listener listener(kind == SocketKind::Uds, kind == SocketKind::Tcp ? "127.0.0.1" : "");
  base::Fd client = dial(listener.address()[0]).socket;
  for (;;) {
    base::Fd server = listener.accept(kind);
    if (server)
      return {std::make_unique<SocketStream>(std::move(client)), std::make_unique<SocketStream>(std::move(server))};
  }
}

std::size_t write(Stream& stream, const std::string& text) {
  const iovec part{const_cast<char*>(text.data()), text.size()};
  return stream.write({&part, 1});
}

std::string look(Stream& stream) {
  const auto bytes = stream.look();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST_CASE("bytes written at one end are visible at the other, until they are consumed") {
  const Ends ends = make_ends(SocketKind::Uds);
  CHECK(look(*ends.two).empty());
  const iovec parts[2]{{const_cast<char*>("ab"), 2}, {const_cast<char*>("cde"), 3}};
  CHECK(ends.one->write(parts) == 5);
  CHECK(look(*ends.two) == "abcde");
  CHECK(write(*ends.one, "fgh") == 3);
  CHECK(look(*ends.two) == "abcdefgh");
  ends.two->consume(6);
  CHECK(look(*ends.two) == "gh");
  CHECK(write(*ends.one, "ij") == 2);
  std::byte into[4];
  CHECK(ends.two->read_into(into, 4) == 4);
  CHECK(std::memcmp(into, "ghij", 4) == 0);
  CHECK(ends.two->read_into(into, 4) == 0);
}

TEST_CASE("data written before the end is read, then the end is reported") {
  Ends ends = make_ends(SocketKind::Uds);
  CHECK(write(*ends.one, "abc") == 3);
  ends.one.reset();
  CHECK(look(*ends.two) == "abc");
  CHECK(look(*ends.two) == "abc");
  ends.two->consume(1);
  std::byte into[4];
  CHECK(ends.two->read_into(into, 4) == 2);
  CHECK_THROWS_WITH(ends.two->look(), "the peer closed the connection");
  CHECK_THROWS_WITH(ends.two->read_into(into, 4), "the peer closed the connection");
  CHECK_THROWS_WITH(write(*ends.two, "x"), "the peer closed the connection");
}

// Writes all of `bytes`, in pieces of random sizes.
void write_all(Stream& stream, const std::vector<char>& bytes) {
  base::Rng rng(1);
  for (std::size_t done = 0; done < bytes.size();) {
    iovec parts[3];
    std::size_t at = done;
    for (iovec& part : parts) {
      const std::size_t size = std::min<std::size_t>(rng.below(100'000), bytes.size() - at);
      part = {const_cast<char*>(bytes.data() + at), size};
      at += size;
    }
    const std::size_t count = stream.write(parts);
    if (count == 0) std::this_thread::yield();
    done += count;
  }
}

std::vector<char> read_all(Stream& stream, std::size_t size) {
  base::Rng rng(2);
  std::vector<char> bytes;
  while (bytes.size() < size) {
    const std::size_t before = bytes.size();
    if (rng.below(2) == 0) {
      const auto seen = stream.look();
      const std::size_t count = std::min<std::size_t>(seen.size(), rng.below(400'000));
      bytes.insert(bytes.end(), reinterpret_cast<const char*>(seen.data()),
                   reinterpret_cast<const char*>(seen.data()) + count);
      stream.consume(count);
    } else {
      bytes.resize(std::min(size, before + rng.below(300'000)));
      bytes.resize(before +
                   stream.read_into(reinterpret_cast<std::byte*>(bytes.data() + before), bytes.size() - before));
    }
    if (bytes.size() == before) std::this_thread::yield();
  }
  return bytes;
}

TEST_CASE("many bytes arrive in order, in any pieces") {
  const SocketKind kind = GENERATE(SocketKind::Uds, SocketKind::Tcp);
  const Ends ends = make_ends(kind);
  std::vector<char> bytes(20'000'000);
  base::Rng rng(3);
  for (char& byte : bytes) byte = static_cast<char>(rng.next());
  std::thread writer([&] { write_all(*ends.one, bytes); });
  const std::vector<char> read = read_all(*ends.two, bytes.size());
  writer.join();
  CHECK((read == bytes));
  CHECK(ends.two->look().empty());
}

TEST_CASE("no more bytes are read than there is space for") {
  const Ends ends = make_ends(SocketKind::Uds);
  const std::string piece(50'000, 'x');
  while (ends.two->look().size() < ends.two->look_max()) write(*ends.one, piece);
  CHECK(ends.two->look().size() == ends.two->look_max());
  ends.two->consume(ends.two->look_max() - 1);
  CHECK(ends.two->look().size() >= 1);
}

}  // namespace
}  // namespace distrun::agents::pipe
