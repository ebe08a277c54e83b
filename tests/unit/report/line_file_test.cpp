#include <catch2/catch.hpp>

#include <csignal>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/report/files/line_file.hpp>

#include "scratch.hpp"

using namespace distrun::report;
using namespace distrun::report::samples;
using distrun::Error;

namespace {

// Limits the size of this process's files during its lifetime; exceeding it is an error, not a signal.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit old_{};
  void (*old_handler_)(int);
};

}  // namespace

TEST_CASE("lines are in the file as soon as they are appended", "[report]") {
  const Scratch scratch;
  LineFile file(scratch.path("lines"));
  file.append("one\n");
  CHECK(content_of(scratch.path("lines")) == "one\n");
  file.append("two\n");
  CHECK(content_of(scratch.path("lines")) == "one\ntwo\n");
  CHECK(file.error().empty());
}

TEST_CASE("a line file is emptied when it is opened", "[report]") {
  const Scratch scratch;
  { LineFile(scratch.path("lines")).append("a long line of an older run\n"); }
  LineFile(scratch.path("lines")).append("new\n");
  CHECK(content_of(scratch.path("lines")) == "new\n");
}

TEST_CASE("a line that does not fit is removed completely and later ones are dropped", "[report]") {
  const Scratch scratch;
  LineFile file(scratch.path("lines"));
  {
    const FileSizeLimit limit(10);
    file.append("1234567\n");
    file.append("1234567\n");
  }
  CHECK(content_of(scratch.path("lines")) == "1234567\n");
  CHECK(file.error() == "cannot write " + scratch.path("lines") +
                            ": File too large (EFBIG); the limit of file size is 10 bytes (RLIMIT_FSIZE); raise it, "
                            "for example with ulimit -f");
  file.append("8\n");
  CHECK(content_of(scratch.path("lines")) == "1234567\n");
}

TEST_CASE("a full device is an error once, not an exception", "[report]") {
  LineFile file("/dev/full");
  file.append("one\n");
  const std::string error = file.error();
  CHECK(error == "cannot write /dev/full: No space left on device (ENOSPC); free some space, or use another path");
  file.append("two\n");
  CHECK(file.error() == error);
}

TEST_CASE("a line file that cannot be opened is named with the reason", "[report]") {
  CHECK_THROWS_WITH(LineFile("/nowhere/lines"), "cannot write /nowhere/lines: No such file or directory (ENOENT)");
  const Scratch scratch;
  REQUIRE(mkfifo(scratch.path("fifo").c_str(), 0600) == 0);
  CHECK_THROWS_WITH(LineFile(scratch.path("fifo")),
                    "cannot write " + scratch.path("fifo") + ": the pipe has no reader");
}

TEST_CASE("a slow reader blocks no writer and misses no line", "[report]") {
  const Scratch scratch;
  REQUIRE(mkfifo(scratch.path("fifo").c_str(), 0600) == 0);
  const distrun::base::Fd reader(open(scratch.path("fifo").c_str(), O_RDONLY | O_NONBLOCK));
  LineFile file(scratch.path("fifo"));
  const std::string line = std::string(9'999, 'x') + "\n";
  std::string sent;
  for (int i = 0; i < 50; ++i) {  // far more than a pipe holds
    file.append(line);
    sent += line;
  }
  std::string received;
  char buffer[65536];
  while (received.size() < sent.size()) {
    const ssize_t size = read(reader.get(), buffer, sizeof buffer);
    if (size > 0) received.append(buffer, static_cast<std::size_t>(size));
    file.append("");  // any line retries the kept ones
  }
  CHECK(received == sent);
  CHECK(file.error().empty());
}
