// Standard input on its way to a rank on another host: every byte and the end arrive, and no more is read than fits.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/nodes/input_window.hpp>

#include "../support/loop.hpp"

namespace distrun::nodes {
namespace {

using testing::run_ready;
using testing::run_until;

std::string text_of_size(std::size_t bytes) {
  std::string text;
  for (int i = 0; text.size() < bytes; ++i) text += std::to_string(i) + "\n";
  text.resize(bytes);
  return text;
}

// A file with this text, open at its beginning.
class OpenFile {
 public:
  explicit OpenFile(const std::string& text) : file_(std::tmpfile()) {
    REQUIRE(file_ != nullptr);
    REQUIRE(::pwrite(fd(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
  }
  int fd() const { return ::fileno(file_.get()); }

 private:
  struct Closes {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Closes> file_;
};

// Keeps the output of a source. Confirmations go back when the test says so.
struct Sent {
  explicit Sent(int fd) : source(loop, fd, [this](const std::string& bytes) { take(bytes); }) {}
  void take(const std::string& bytes) {
    text += bytes;
    is_over = is_over || bytes.empty();
  }

  io::Loop loop;
  std::string text;
  bool is_over = false;
  InputSource source;
};

struct Confirmed {
  io::Loop loop;
  std::uint64_t bytes = 0;
  InputPipe pipe{loop, [this](std::uint64_t count) { bytes += count; }};

  std::string read_some() const {
    std::string part(1 << 16, '\0');
    const ssize_t got = ::read(pipe.rank_end(), part.data(), part.size());
    part.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return part;
  }
};

}  // namespace

TEST_CASE("no more of an input is read than its window until the rank takes it, and then the rest and the end") {
  const std::string text = text_of_size(5 * kInputWindow / 2);
  const OpenFile file(text);
  Sent sent(file.fd());
  CHECK(sent.text == text.substr(0, kInputWindow));
  sent.source.confirm(10);
  CHECK(sent.text.size() == kInputWindow + 10);
  CHECK_FALSE(sent.is_over);
  for (std::size_t taken = 10; taken < text.size();) {
    const std::size_t open = sent.text.size() - taken;
    REQUIRE(open > 0);
    taken += open;
    sent.source.confirm(open);
  }
  CHECK(sent.text == text);
  CHECK(sent.is_over);
  CHECK_THROWS_AS(sent.source.confirm(1), Error);
}

TEST_CASE("an input is read from where it stands, and a pipe stays as other processes have it") {
  SECTION("a file") {
    const OpenFile file("used\nnot used\n");
    REQUIRE(::lseek(file.fd(), 5, SEEK_SET) == 5);
    const Sent sent(file.fd());
    CHECK(sent.text == "not used\n");
    CHECK(sent.is_over);
  }
  SECTION("a pipe") {
    base::FdPair pipe = base::make_pipe();
    Sent sent(pipe.first.get());
    CHECK((::fcntl(pipe.first.get(), F_GETFL) & O_NONBLOCK) == 0);
    run_ready(sent.loop);
    CHECK_FALSE(sent.is_over);
    REQUIRE(::write(pipe.second.get(), "line\n", 5) == 5);
    REQUIRE(run_until(sent.loop, [&] { return sent.text == "line\n"; }));
    pipe.second.reset();
    REQUIRE(run_until(sent.loop, [&] { return sent.is_over; }));
  }
}

TEST_CASE("a rank gets its input and its end, and what its pipe takes is confirmed") {
  Confirmed rank;
  const std::string text = text_of_size(4 * kInputWindow);
  std::string got;
  std::size_t sent = 0;
  while (got.size() < text.size()) {
    const std::size_t open = kInputWindow - (sent - rank.bytes);
    const std::string part = text.substr(sent, open);
    if (!part.empty()) rank.pipe.add(part);
    sent += part.size();
    got += rank.read_some();
    run_ready(rank.loop);
  }
  CHECK(got == text);
  CHECK(rank.bytes == text.size());
  rank.pipe.add("");
  CHECK(rank.read_some().empty());
  CHECK_THROWS_AS(rank.pipe.add("more"), Error);
}

TEST_CASE("the end of an input comes after what the pipe could not take at once") {
  Confirmed rank;
  const std::string text = text_of_size(kInputWindow);
  rank.pipe.add(text);  // fills the pipe
  rank.pipe.add(text);
  rank.pipe.add("");
  std::string got;
  for (std::string part = rank.read_some(); !part.empty(); part = rank.read_some()) {
    got += part;
    run_ready(rank.loop);
  }
  CHECK(got == text + text);
}

TEST_CASE("input for a rank that has closed its end is dropped, and not confirmed") {
  const auto before = ::signal(SIGPIPE, SIG_IGN);  // as distrun does
  Confirmed rank;
  rank.pipe.close_rank_end();
  rank.pipe.add("not read");
  rank.pipe.add("nor this");
  run_ready(rank.loop);
  ::signal(SIGPIPE, before);
  CHECK(rank.bytes == 0);
}

TEST_CASE("more input than a window is refused") {
  Confirmed rank;
  CHECK_THROWS_AS(rank.pipe.add(text_of_size(kInputWindow + 1)), Error);
  rank.pipe.add(text_of_size(kInputWindow));
  rank.pipe.add(text_of_size(kInputWindow));  // the pipe has taken the first
  CHECK_THROWS_AS(rank.pipe.add("x"), Error);
}

}  // namespace distrun::nodes
