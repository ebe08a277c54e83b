// Nonsense input for distrun: paths, files and words that no user would pass on purpose.
#include <catch2/catch.hpp>

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "compare.hpp"
#include "programs.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;
namespace fs = std::filesystem;

void make_socket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(path.size() < sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  ::close(fd);
}

struct OddPath {
  std::string path;
  std::string what;
};

// Checks that distrun prints a sentence and has not crashed.
void expect_sentence(const Ended& ended) {
  INFO(ended.out << ended.err);
  CHECK(ended.signal == 0);
  CHECK_FALSE(ended.out_of_time);
  CHECK_THAT(ended.out + ended.err, !Contains("the coordinator was killed") && !Contains("terminate called"));
  CHECK(unprintable(ended.out + ended.err).empty());
}

}  // namespace

TEST_CASE("a plugin that is not a file is refused at once", "[odd]") {
  const Sandbox sandbox(distrun_program());
  const Scratch scratch;
  const std::string fifo = scratch.path() + "/fifo.so";
  const std::string socket = scratch.path() + "/socket.so";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  make_socket(socket);
  for (const OddPath& odd : {OddPath{fifo, "a FIFO"}, OddPath{scratch.path(), "a directory"},
                             OddPath{"/dev/zero", "a device"}, OddPath{socket, "a socket"}}) {
    for (const std::string command : {"run", "list"}) {
      INFO(command << " " << odd.path);
      const Ended ended = sandbox.run({command, odd.path});
      expect_sentence(ended);
      CHECK(ended.exit_code == kInfraError);
      CHECK_THAT(ended.out + ended.err, Contains(odd.path) && Contains("is " + odd.what + ", not a file"));
      CHECK(ended.duration < scaled(milliseconds(10'000)));  // opening a FIFO would block until the bound of 30 s
    }
  }
}

TEST_CASE("two runs do not write into the same events", "[odd]") {
  const Sandbox sandbox(distrun_program());
  const std::vector<std::string> arguments{"--output", sandbox.output(),  "--timeout",    "100s",
                                           "--filter", "Hangs.all_sleep", plugin("hangs")};
  Running first = sandbox.start(arguments);
  const std::string events = sandbox.output() + "/events.ndjson";
  REQUIRE(eventually(scaled(milliseconds(20'000)),
                     [&] { return read_file(events).find("rank_start") != std::string::npos; }));
  Command again = sandbox.command(arguments);
  again.capture = sandbox.output() + "/../second";
  const Ended second = Running(again).wait(scaled(milliseconds(20'000)));
  expect_sentence(second);
  CHECK(second.exit_code == kInfraError);
  CHECK_THAT(second.err, Contains(events + ": run ") && Contains(" is still writing it; wait for its end"));
  first.signal(SIGINT);
  CHECK(first.wait(scaled(milliseconds(20'000))).exit_code == 130);
  CHECK(wrong_with_events(events) == "");
  // The directory is free after the run.
  CHECK(sandbox.run({"--output", sandbox.output(), "--filter", "Passes.trivial", plugin("passes")}).exit_code == 0);
  CHECK(wrong_with_events(events) == "");
}

TEST_CASE("plugins may have any name that a file may have", "[odd]") {
  const Sandbox sandbox(distrun_program());
  const Scratch scratch;
  for (const std::string name : {"with space.so", "-leading.so", "new\nline.so", "quote'\".so", "\xff\xfe.so",
                                 "%s%n.so", "*.so", "plain", "\x1b[31m.so"}) {
    const std::string path = scratch.path() + "/" + name;
    fs::create_symlink(plugin("passes"), path);
    INFO(name);
    const Ended ended = sandbox.run(
        {"--output", sandbox.output(), "--ctrf", sandbox.output() + "/ctrf.json", "--filter", "Passes.trivial", path});
    expect_sentence(ended);
    CHECK(ended.exit_code == 0);
    CHECK(wrong_with_reports(sandbox) == "");
    expect_sentence(sandbox.run({"show", sandbox.output() + "/summary.json"}));
  }
  // A leading dash without a folder is an option, unless it stands after "--".
  fs::copy_file(plugin("passes"), sandbox.start_directory() + "/-dash.so");
  CHECK(sandbox.run({"--filter", "Passes.trivial", "-dash.so"}).exit_code == kUsage);
  CHECK(sandbox.run({"--filter", "Passes.trivial", "--", "-dash.so"}).exit_code == 0);
}

TEST_CASE("invalid summaries are refused by every command that reads them", "[odd]") {
  const Sandbox sandbox(distrun_program());
  const Scratch scratch;
  const std::string path = scratch.path() + "/summary.json";
  const Ended good = sandbox.run({"--json", path, "--filter", "Fails.require", plugin("fails")});
  REQUIRE(good.exit_code == 1);
  const std::string whole = read_file(path);
  std::vector<std::string> texts{"",
                                 "null",
                                 "[]",
                                 "{}",
                                 "0",
                                 "\"\"",
                                 "\xff\xfe",
                                 std::string(1000, '['),
                                 std::string("\0", 1),
                                 "{\"schema\":\"distrun.summary/1\",\"tests\":[null]}"};
  // The last two bytes are a brace and the newline.
  for (std::size_t at = 1; at + 2 < whole.size(); at += whole.size() / 12) texts.push_back(whole.substr(0, at));
  for (const std::string& text : texts) {
    write_file(path, text);
    INFO(text.substr(0, 60));
    for (const std::vector<std::string>& way :
         {std::vector<std::string>{"show", path}, {"--rerun-failed", path}, {"history", "--import", path}}) {
      const Ended ended = sandbox.run(way);
      INFO(way.front());
      expect_sentence(ended);
      CHECK(ended.exit_code >= kUsage);
    }
  }
}

TEST_CASE("arguments that are not valid text are answered with a sentence", "[odd]") {
  const Sandbox sandbox(distrun_program());
  for (const std::string word : {"\xff\xfe", "\x1b]0;x\x07", "a\nb", "%s%n", "-", "--", "\xed\xa0\x80"}) {
    for (const std::vector<std::string>& way : {std::vector<std::string>{word},
                                                {"--filter", word, plugin("passes")},
                                                {"--backend", word},
                                                {"list", word},
                                                {"show", word},
                                                {"stacks", word},
                                                {"exec", "--", word},
                                                {"history", word},
                                                {"--config", word, "x.so"}}) {
      INFO(way.front() << " " << word);
      const Ended ended = sandbox.run(way);
      expect_sentence(ended);
    }
  }
}

TEST_CASE("invalid settings files are refused", "[odd]") {
  const Sandbox sandbox(distrun_program());
  const Scratch scratch;
  const std::string path = scratch.path() + "/distrun.toml";
  for (const std::string& text : {std::string("\xff\xfe"), std::string("\0\0", 2), std::string("["), std::string("=1"),
                                  std::string("world-size = "), std::string("world-size = [[["),
                                  std::string(100'000, '['), std::string("a = \"\"\"")}) {
    write_file(path, text);
    INFO(text.substr(0, 40));
    const Ended ended = sandbox.run({"--config", path, plugin("passes")});
    expect_sentence(ended);
    CHECK(ended.exit_code == kUsage);
    CHECK_THAT(ended.err, Contains(path));
  }
  for (const std::string& odd : {scratch.path(), std::string("/dev/zero")}) {
    const Ended ended = sandbox.run({"--config", odd, plugin("passes")});
    expect_sentence(ended);
    CHECK(ended.exit_code == kUsage);
  }
}

TEST_CASE("an invalid history keeps no test from running", "[odd]") {
  const Sandbox sandbox(distrun_program());
  const Scratch scratch;
  const std::string path = scratch.path() + "/history.db";
  for (const std::string& text :
       {std::string("nonsense"), std::string("SQLite format 3\0nonsense", 24), std::string(5000, '\0')}) {
    write_file(path, text);
    const Ended ended =
        sandbox.run({"--history", path, "--order", "failed-first", "--filter", "Passes.trivial", plugin("passes")});
    expect_sentence(ended);
    CHECK(ended.exit_code == 0);
    CHECK_THAT(ended.err, Contains(path));
    CHECK(read_file(path) == text);
    const Ended asked = sandbox.run({"history", "--history", path});
    expect_sentence(asked);
    CHECK(asked.exit_code == kInfraError);
  }
  const std::string fifo = scratch.path() + "/fifo.db";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const Ended asked = sandbox.run({"history", "--history", fifo});
  expect_sentence(asked);
  CHECK(asked.exit_code == kInfraError);
  CHECK_THAT(asked.err, Contains(fifo + " is not a regular file"));
}
