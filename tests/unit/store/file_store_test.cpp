// A store in a file survives the death of any user, and reports the defect of an invalid file.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/runtime/store/awaited_ranks.hpp>
#include <distrun/runtime/store/file_store.hpp>
#include <distrun/runtime/store/log_format.hpp>

#include "support/process.hpp"
#include "support/scratch.hpp"
#include "unit/core/fake_rank_line.hpp"
#include "unit/support/limits.hpp"

namespace distrun::stores {
namespace {

using testing::Scratch;

std::string in(const Scratch& folder) { return folder.path() + "/store"; }

// A process that adds 1 to "sum" for ever, and writes a byte after each addition.
class Adder {
 public:
  explicit Adder(const std::string& path) : done_(base::make_pipe()), pid_(::fork()) {
    if (pid_ == 0) add_forever(path, done_.second.get());
    done_.second.reset();
  }
  ~Adder() { kill(); }
  Adder(const Adder&) = delete;
  Adder& operator=(const Adder&) = delete;

  // Kills the process; returns the number of additions, which is exact or one too small.
  int kill() {
    if (pid_ < 0) return 0;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, -1), nullptr, 0);
    int count = 0;
    for (char byte = 0; ::read(done_.first.get(), &byte, 1) == 1;) ++count;
    return count;
  }

 private:
  [[noreturn]] static void add_forever(const std::string& path, int done) {
    FileStore store(path);
    for (;;) {
      store.add("sum", 1);
      if (::write(done, "x", 1) != 1) ::_exit(1);
    }
  }

  base::FdPair done_;
  pid_t pid_;
};

TEST_CASE("a wait for a required rank ends when that rank has died, unless its key exists") {
  const Scratch folder;
  testing::FakeRank rank;
  rank.line.pids = {{1, 1 << 22}};  // one more process than there can be
  FileStore store(in(folder));
  const AwaitedRanks awaited({1}, {1});
  CHECK_THROWS_WITH(store.wait({"never"}, std::chrono::seconds(30)),
                    "waiting for the key never: rank 1 is gone: its process 4194304 has ended");
  store.set("there", "before it died");
  CHECK(store.get("there") == "before it died");
}

TEST_CASE("a record half written by a dead writer is ignored, and the next writer continues") {
  const Scratch folder;
  std::size_t good = 0;
  {
    FileStore store(in(folder));
    store.set("whole", "1");
    good = testing::read_file(in(folder)).size();
    store.set("cut", std::string(100, 'x'));
  }
  const std::string all = testing::read_file(in(folder));
  REQUIRE(all.size() > good + 100);
  for (std::size_t size = good; size < all.size(); size += 3) {
    testing::write_file(in(folder), std::string_view(all).substr(0, size));
    FileStore store(in(folder));
    CHECK(store.get("whole") == "1");
    CHECK_FALSE(store.check({"cut"}));
    store.set("next", "2");
    FileStore other(in(folder));
    CHECK(other.get("next") == "2");
    CHECK_FALSE(other.check({"cut"}));
  }
}

TEST_CASE("a file with an incomplete header is an empty store") {
  const Scratch folder;
  const std::string header = encode_header({});
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{8}, header.size() - 1}) {
    testing::write_file(in(folder), header.substr(0, size));
    FileStore store(in(folder));
    CHECK(store.num_keys() == 0);
    store.set("key", "value");
    CHECK(FileStore(in(folder)).get("key") == "value");
  }
}

TEST_CASE("a file that is not a store is left unchanged, and reported as such") {
  const Scratch folder;
  testing::write_file(in(folder), "this file is not a store");
  FileStore store(in(folder));
  CHECK_THROWS_WITH(store.set("key", "value"), in(folder) + " is not a distrun store: its first bytes differ");
  CHECK_THROWS_WITH(store.num_keys(), in(folder) + " is not a distrun store: its first bytes differ");
  CHECK(testing::read_file(in(folder)) == "this file is not a store");
  CHECK_THROWS_WITH(FileStore(folder.path() + "/no/such/store"), Catch::Contains("No such file"));
}

TEST_CASE("a damaged store is reported with the position") {
  const Scratch folder;
  {
    FileStore store(in(folder));
    store.set("a", "1");
    store.set("b", "2");
  }
  const std::string good = testing::read_file(in(folder));
  const auto check_damage = [&](std::size_t at, std::size_t named) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    testing::write_file(in(folder), bytes);
    FileStore store(in(folder));
    CHECK_THROWS_WITH(store.get("b"), in(folder) + " is damaged at byte " + std::to_string(named));
  };
  check_damage(20, 8);  // the mark
  check_damage(kLogHeaderSize + 12, kLogHeaderSize);
  testing::write_file(in(folder), good);
  FileStore store(in(folder));
  CHECK(store.get("b") == "2");
  REQUIRE(::truncate(in(folder).c_str(), kLogHeaderSize) == 0);
  CHECK_THROWS_WITH(store.get("b"), in(folder) + " is damaged at byte " + std::to_string(good.size()));
}

TEST_CASE("a store of another version is reported as one, and left unchanged") {
  const Scratch folder;
  for (const std::string version : {"01", "03", "\x1b["}) {
    const std::string bytes = "dstore" + version + std::string(100, 'x');
    testing::write_file(in(folder), bytes);
    FileStore store(in(folder));
    const std::string shown = version == "\x1b[" ? "\\x1b[" : version;
    CHECK_THROWS_WITH(
        store.set("key", "value"),
        in(folder) + " is a store of version " + shown +
            ", but this program reads version 02; use the same version of distrun in all processes, or another file");
    CHECK(testing::read_file(in(folder)) == bytes);
  }
}

TEST_CASE("a file that is removed or replaced starts empty for all ranks") {
  const Scratch folder;
  FileStore one(in(folder)), other(in(folder));
  one.set("key", "old");
  CHECK(other.get("key") == "old");
  REQUIRE(::unlink(in(folder).c_str()) == 0);
  CHECK_FALSE(other.check({"key"}));
  other.set("key", "new");
  CHECK(one.get("key") == "new");
}

TEST_CASE("only the last of the stores removes the file") {
  const Scratch folder;
  auto one = std::make_unique<FileStore>(in(folder), 2), other = std::make_unique<FileStore>(in(folder), 2);
  one->set("key", "value");
  one.reset();
  CHECK(testing::exists(in(folder)));
  CHECK(other->get("key") == "value");
  other.reset();
  CHECK_FALSE(testing::exists(in(folder)));
  FileStore(in(folder)).set("key", "value");
  CHECK(testing::exists(in(folder)));
}

TEST_CASE("the file of a group of stores stays as long as a rank has another store on it") {
  const Scratch folder;
  auto other = std::make_unique<FileStore>(in(folder), 1);
  FileStore(in(folder), 1).set("key", "value");
  CHECK(testing::exists(in(folder)));
  CHECK(other->get("key") == "value");
  other.reset();
  CHECK_FALSE(testing::exists(in(folder)));
}

TEST_CASE("a lock that is not released is waited for, and no longer than the timeout") {
  const Scratch folder;
  FileStore store(in(folder));
  store.set("key", "value");
  const base::Fd other(::open(in(folder).c_str(), O_RDWR | O_CLOEXEC));
  REQUIRE(::flock(other.get(), LOCK_EX) == 0);
  store.set_timeout(std::chrono::milliseconds(30));
  CHECK_THROWS_WITH(store.get("key"), Catch::StartsWith("wait timeout after ") &&
                                          Catch::EndsWith("another process holds the lock of " + in(folder)));
  REQUIRE(::flock(other.get(), LOCK_UN) == 0);
  CHECK(store.get("key") == "value");
}

TEST_CASE("a store that forked children use loses none of the additions of any process") {
  constexpr int kChildren = 4, kTimes = 500;
  const testing::Scratch folder;
  FileStore store(folder.path() + "/store");
  store.add("sum", 1);
  std::vector<pid_t> children;
  for (int child = 0; child < kChildren; ++child) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      for (int time = 0; time < kTimes; ++time) store.add("sum", 1);
      ::_exit(0);
    }
    children.push_back(pid);
  }
  for (int time = 0; time < kTimes; ++time) store.add("sum", 1);
  for (const pid_t each : children) {
    int status = -1;
    ::waitpid(each, &status, 0);
    CHECK(status == 0);
  }
  CHECK(store.add("sum", 0) == 1 + (kChildren + 1) * kTimes);
}

TEST_CASE("a store that may not grow reports its size and the limit, and still works") {
  const testing::Scratch folder;
  CHECK(testing::under_small_file_limit([&] {
          FileStore store(in(folder));
          store.set("small", "1");
          try {
            store.set("large", std::string(10'000, 'x'));
            return 1;
          } catch (const Error& error) {
            const std::string text = error.what();
            if (text.find("which would need 10") == text.npos) return 2;
            if (text.find("the limit of file size is 4 KiB (RLIMIT_FSIZE); raise it") == text.npos) return 3;
          }
          store.set("next", "2");
          return store.get("small") == "1" && store.get("next") == "2" && !store.check({"large"}) ? 0 : 4;
        }) == 0);
}

TEST_CASE("an update without an effect is not written") {
  const testing::Scratch folder;
  FileStore store(folder.path() + "/store");
  store.set("key", "value");
  const auto size = testing::read_file(store.path()).size();
  for (int i = 0; i < 10; ++i) {
    CHECK(store.compare_set("key", "other", std::string(100'000, 'x')) == "value");
    CHECK_FALSE(store.delete_key("none"));
    CHECK_FALSE(store.try_queue_pop("none"));
  }
  CHECK(testing::read_file(store.path()).size() == size);
}

TEST_CASE("a full disk is an error, and nothing is changed") {
  const Scratch folder;
  struct rlimit before {};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  FileStore store(in(folder));
  store.set("key", "value");
  ::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small { 4096, before.rlim_max };
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  std::optional<Error> error;
  try {
    store.set("key", std::string(10'000, 'x'));
  } catch (const Error& caught) {
    error = caught;
  }
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  ::signal(SIGXFSZ, SIG_DFL);
  REQUIRE(error.has_value());
  CHECK(error->kind() == ErrorKind::Overloaded);
  CHECK_THAT(error->text(), Catch::Contains("cannot write " + in(folder)));
  CHECK(store.get("key") == "value");
  CHECK(FileStore(in(folder)).get("key") == "value");
}

TEST_CASE("processes that add are killed at any moment, and no sum that was returned is lost") {
  const Scratch folder;
  base::Rng random(20);
  constexpr int kRounds = 30;
  int least = 0;
  int killed = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::unique_ptr<Adder>> adders;
    for (int i = 0; i < 4; ++i) adders.push_back(std::make_unique<Adder>(in(folder)));
    testing::pause_for(std::chrono::milliseconds(random.below(15)));
    for (const auto& adder : adders) least += adder->kill();
    killed += 4;
    FileStore store(in(folder));
    const std::int64_t sum = store.add("sum", 0);
    INFO("round " << round);
    CHECK(sum >= least);
    CHECK(sum <= least + killed);
  }
}

}  // namespace
}  // namespace distrun::stores
