#include <catch2/catch.hpp>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <distrun/common/base/fd.hpp>
#include <distrun/runner/report/files/rank_logs.hpp>
#include <distrun/runner/report/text/live_output.hpp>

#include "samples.hpp"
#include "scratch.hpp"

using namespace distrun;
using namespace distrun::report;
using namespace distrun::report::samples;
using namespace std::chrono_literals;
using launch::Stream;

namespace {

base::Fd file_at(const std::string& path) {
  return base::Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
}

// Live output into two files, or into one for both streams, with a clock that only the test advances.
class Terminal {
 public:
  explicit Terminal(const LiveOptions& options = {}, bool one_file = false)
      : out_(file_at(scratch_.path("out"))),
        err_(file_at(scratch_.path(one_file ? "out" : "err"))),
        out_outlet_(out_.get()),
        err_outlet_(err_.get()),
        live_(out_outlet_, one_file ? nullptr : &err_outlet_, options, clock_) {}

  void write(int rank, std::string_view bytes, Stream stream = Stream::Out) { live_.on_output(rank, stream, bytes); }
  void pass(base::Nanoseconds time) {
    clock_.pass(time);
    live_.tick();
  }
  LiveOutput& live() { return live_; }
  std::string out() const { return content_of(scratch_.path("out")); }
  std::string err() const { return content_of(scratch_.path("err")); }

 private:
  Scratch scratch_;
  base::Fd out_;
  base::Fd err_;
  StillClock clock_;
  Outlet out_outlet_;
  Outlet err_outlet_;
  LiveOutput live_;
};

}  // namespace

TEST_CASE("each line follows the name of its rank, on the stream that it was written to") {
  Terminal terminal;
  terminal.write(0, "a\nb\n");
  terminal.write(2, "c\n", Stream::Err);
  CHECK(terminal.out() == "[rank 0] a\n[rank 0] b\n");
  CHECK(terminal.err() == "[rank 2] c\n");
}

TEST_CASE("a line that arrives in pieces is shown once it is complete, with other output in between") {
  Terminal terminal;
  terminal.write(0, "half ");
  terminal.write(1, "other\n");
  CHECK(terminal.out() == "[rank 1] other\n");
  terminal.write(0, "a line\nnext");
  CHECK(terminal.out() == "[rank 1] other\n[rank 0] half a line\n");
  CHECK(terminal.live().finish().empty());
  CHECK(terminal.out() == "[rank 1] other\n[rank 0] half a line\n[rank 0] next\n");
}

TEST_CASE("the bytes of a line are shown unchanged") {
  Terminal terminal;
  const std::string line("\x1b[31mred\x1b[0m \xff\xfe \0 \r 50%\n", 24);
  terminal.write(0, line);
  CHECK(terminal.out() == "[rank 0] " + line);
}

TEST_CASE("an incomplete line is shown after a moment, and its rest continues it") {
  Terminal terminal;
  terminal.write(0, "name? ");
  terminal.pass(400ms);
  CHECK(terminal.out().empty());
  terminal.pass(200ms);
  CHECK(terminal.out() == "[rank 0] name? ");
  SECTION("by the same rank") {
    terminal.write(0, "Ada\nmore\n");
    CHECK(terminal.out() == "[rank 0] name? Ada\n[rank 0] more\n");
  }
  SECTION("after another rank has written") {
    terminal.write(1, "hurry\n");
    terminal.write(0, "Ada\n");
    CHECK(terminal.out() == "[rank 0] name? \n[rank 1] hurry\n[rank 0] Ada\n");
  }
  SECTION("without a continuation") {
    terminal.live().finish();
    CHECK(terminal.out() == "[rank 0] name? \n");
  }
}

TEST_CASE("an endless line is not buffered, and not changed while no other rank writes") {
  Terminal terminal;
  const std::string chunk(LiveOutput::kLineMax / 2, 'x');
  for (int i = 0; i < 5; ++i) terminal.write(0, chunk);
  CHECK(terminal.out().size() >= 2 * LiveOutput::kLineMax);
  terminal.write(0, "\n");
  CHECK(terminal.out() == "[rank 0] " + std::string(5 * chunk.size(), 'x') + "\n");
}

TEST_CASE("streams that end in one file share its lines and keep their order") {
  Terminal terminal({}, true);
  terminal.write(0, "question ");
  terminal.pass(1s);
  terminal.write(0, "warning\n", Stream::Err);
  terminal.write(0, "answer\n");
  CHECK(terminal.out() == "[rank 0] question \n[rank 0] warning\n[rank 0] answer\n");
}

TEST_CASE("without prefixes lines stay complete") {
  LiveOptions options;
  options.prefix = false;
  Terminal terminal(options);
  terminal.write(0, "on");
  terminal.write(1, "two\n");
  terminal.write(0, "e\n");
  CHECK(terminal.out() == "two\none\n");
}

TEST_CASE("ranks have separate colours, and attributes that a rank leaves on end before the next line") {
  LiveOptions options;
  options.color = {true, false};
  Terminal terminal(options);
  terminal.write(0, "a\n");
  terminal.write(1, "b\n");
  terminal.write(1, "c\n", Stream::Err);
  CHECK(terminal.out() == "\x1b[0;36m[rank 0]\x1b[0m a\n\x1b[0;33m[rank 1]\x1b[0m b\n");
  CHECK(terminal.err() == "[rank 1] c\n");
}

TEST_CASE("lines of ranks that share a process do not name a rank") {
  Terminal terminal;
  terminal.live().from_one_process(true);
  terminal.write(0, "a\n");
  CHECK(terminal.out() == "[ranks] a\n");
}

TEST_CASE("a line without an end is ended before another text follows on the same outlet") {
  Terminal terminal({}, true);
  terminal.write(2, "password? ");
  terminal.live().end_lines();
  CHECK(terminal.out() == "[rank 2] password? \n");
  terminal.live().end_lines();
  terminal.write(2, "a\n");
  CHECK(terminal.out() == "[rank 2] password? \n[rank 2] a\n");
}

TEST_CASE("a reader that does not read makes the output full, until it reads again") {
  base::FdPair pipe = base::make_pipe();
  StillClock clock;
  Outlet outlet(pipe.second.get());
  LiveOutput live(outlet, nullptr, LiveOptions(), clock);
  std::string line(1000, 'x');
  line += '\n';
  std::size_t lines = 0;
  for (; !live.is_full() && lines < 10'000; ++lines) live.on_output(0, Stream::Out, line);
  CHECK(lines * line.size() >= LiveOutput::kPendingMax);
  REQUIRE(live.is_full());
  std::string buffer(1 << 16, ' ');
  for (int i = 0; i < 100 && live.is_full(); ++i) REQUIRE(::read(pipe.first.get(), buffer.data(), buffer.size()) > 0);
  CHECK_FALSE(live.is_full());
}

TEST_CASE("a line that waits for a slow reader is not shown unfinished, however long that takes") {
  base::FdPair pipe = base::make_pipe();
  StillClock clock;
  Outlet outlet(pipe.second.get());
  LiveOutput live(outlet, nullptr, LiveOptions(), clock);
  std::string shown;
  const auto read_some = [&] {
    std::string part(1 << 16, ' ');
    const ssize_t got = ::read(pipe.first.get(), part.data(), part.size());
    REQUIRE(got > 0);
    shown += part.substr(0, static_cast<std::size_t>(got));
  };
  live.on_output(1, Stream::Out, "half a ");
  while (!live.is_full()) live.on_output(0, Stream::Out, std::string(1000, 'x') + "\n");
  for (int i = 0; i < 4; ++i) {
    clock.pass(300ms);
    live.tick();
  }
  while (live.is_full()) read_some();
  clock.pass(300ms);  // the rest of the line is on its way
  live.tick();
  live.on_output(1, Stream::Out, "line\n");
  while (shown.find("line\n") == std::string::npos) {
    live.is_full();  // offers the rest
    read_some();
  }
  CHECK_THAT(shown, Catch::Contains("\n[rank 1] half a line\n"));
}

TEST_CASE("output that cannot be shown is reported, with the amount that is lost") {
  StillClock clock;
  SECTION("a full disk") {
    const base::Fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
    Outlet outlet(full.get());
    LiveOutput live(outlet, nullptr, LiveOptions(), clock);
    live.on_output(0, Stream::Out, "a\n");
    CHECK_FALSE(live.has_lost_reader());
    CHECK_THAT(live.finish(), Catch::Contains("cannot write standard output: No space left") &&
                                  Catch::Contains(": 11 bytes of the ranks' output were dropped"));
  }
  SECTION("a closed pipe") {
    ::signal(SIGPIPE, SIG_IGN);
    base::FdPair pipe = base::make_pipe();
    pipe.first.reset();
    Outlet outlet(pipe.second.get());
    LiveOutput live(outlet, nullptr, LiveOptions(), clock);
    live.on_output(0, Stream::Out, "a\n");
    CHECK(live.has_lost_reader());
    live.on_output(0, Stream::Out, "b\n");
    CHECK_THAT(live.finish(), Catch::Contains("the reader of standard output is gone (Broken pipe") &&
                                  Catch::Contains(": 22 bytes of the ranks' output were dropped; use --per-rank-log"));
  }
}

TEST_CASE("each rank has a file for each stream, with all its output") {
  const Scratch scratch;
  const std::string directory = scratch.path("logs/deep");
  RankLogs logs(directory, 2);
  const std::string much(3 << 20, 'x');
  logs.write(1, Stream::Out, much);
  logs.write(1, Stream::Out, "end");
  logs.write(0, Stream::Err, std::string_view("\0\n", 2));
  CHECK(content_of(directory + "/rank1.out") == much + "end");
  CHECK(content_of(directory + "/rank0.err") == std::string("\0\n", 2));
  CHECK(content_of(directory + "/rank0.out").empty());
  CHECK(logs.failure().empty());
}

TEST_CASE("a directory that cannot be created is named") {
  CHECK_THROWS_WITH(RankLogs("/proc/none/logs", 1), Catch::Contains("/proc/none/logs"));
}

TEST_CASE("lines of ranks on other hosts name their host") {
  Terminal terminal;
  terminal.live().set_host(1, "node02");
  terminal.live().set_host(0, "");
  terminal.write(0, "here\n");
  terminal.write(1, "there\n");
  terminal.live().set_host(1, "");
  terminal.write(1, "here again\n");
  CHECK(terminal.out() == "[rank 0] here\n[rank 1 on node02] there\n[rank 1] here again\n");
}
