// A process that is killed during a compaction, at each of its system calls, leaves a readable file.
#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include <distrun/common/base/rng.hpp>
#include <distrun/runtime/store/file_store.hpp>
#include <distrun/runtime/store/store_log.hpp>

#include "marks.hpp"
#include "struck_writes.hpp"
#include "support/process.hpp"
#include "support/scratch.hpp"

namespace distrun::stores {
namespace {

using testing::Scratch;

constexpr std::size_t kFiller = 64 * 1024;
constexpr int kJobs = 500;
constexpr int kParts = 4;

// Writes a file in which one of the next updates triggers a compaction, with a snapshot in several parts.
void write_ripe(const std::string& path, bool is_second) {
  FileStore store(path);
  const auto ripen = [&] {
    const LogMark mark = mark_of(path);
    const std::size_t at = mark.begin + std::max(StoreLog::kCompactMin, 4 * (mark.base - mark.begin)) - 1;
    for (;;) {
      const std::size_t size = std::filesystem::file_size(path);
      if (size + kFiller + 200 >= at) break;
      store.set("filler", std::string(kFiller, 'x'));
    }
    while (std::filesystem::file_size(path) + 400 < at) store.set("small", std::string(128, 's'));
    while (std::filesystem::file_size(path) + 75 < at) store.set("small", "s");
  };
  store.set("gone", "1");
  store.delete_key("gone");
  for (int i = 0; i < kJobs; ++i) store.queue_push("jobs", std::to_string(i));
  ripen();
  if (!is_second) return;
  while (mark_of(path).generation == 1) store.add("sum", 0);
  ripen();
}

// Runs updates in a child that is killed at this call, or finishes before reaching it.
enum class End { Killed, Finished };
End update_and_die(const std::string& path, int call, int parts, int all = kParts) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    FileStore store(path);
    (void)store.check({"sum"});
    testing_strikes::strike(call, parts, all);
    for (int i = 0; i < 4; ++i) store.add("sum", 1);  // one of them triggers it
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(pid, &status, 0);
  REQUIRE((WIFSIGNALED(status) || status == 0));
  return status == 0 ? End::Finished : End::Killed;
}

void check_content(Store& store, std::int64_t& sum) {
  const std::int64_t found = store.add("sum", 0);
  CHECK(found >= sum);
  sum = found;
  CHECK(store.get("filler") == std::string(kFiller, 'x'));
  CHECK_FALSE(store.check({"gone"}));
  CHECK(store.queue_length("jobs") == kJobs);
}

TEST_CASE("a process that is killed at any step of a compaction loses no update, and others continue") {
  const bool is_second = GENERATE(false, true);
  const Scratch folder;
  const std::string ripe = folder.path() + "/ripe", path = folder.path() + "/store";
  write_ripe(ripe, is_second);
  const std::uint64_t generation = mark_of(ripe).generation;
  REQUIRE(generation == (is_second ? 2U : 1U));
  int killed = 0, before_mark = 0, after_mark = 0;
  for (int call = 1;; ++call) {
    End end = End::Finished;
    for (int parts = 0; parts <= kParts; ++parts) {
      INFO("call " << call << ", " << parts << " of " << kParts << " parts");
      std::filesystem::copy_file(ripe, path, std::filesystem::copy_options::overwrite_existing);
      FileStore early(path);  // has read the old log
      REQUIRE(early.queue_length("jobs") == kJobs);
      end = update_and_die(path, call, parts);
      if (end == End::Finished) break;
      ++killed;
      (mark_of(path).generation == generation ? before_mark : after_mark) += 1;
      std::int64_t sum = 0;
      FileStore late(path);
      check_content(late, sum);
      check_content(early, sum);
      CHECK(late.queue_pop("jobs") == "0");
      early.queue_push("jobs", "again");
      for (int i = 0; i < 20; ++i) early.set("filler", std::string(kFiller, 'x'));
      CHECK(mark_of(path).generation > generation);
      FileStore last(path);
      check_content(last, sum);
      check_content(late, sum);
      CHECK(last.queue_pop("jobs") == "1");
    }
    if (end == End::Finished) break;
  }
  CHECK(before_mark > 10);
  CHECK(after_mark >= kParts);
  CHECK(killed > 25);
}

TEST_CASE("each byte of a mark may be the last one written") {
  const Scratch folder;
  const std::string ripe = folder.path() + "/ripe", path = folder.path() + "/store";
  write_ripe(ripe, true);
  const std::uint64_t generation = mark_of(ripe).generation;
  const auto die_at = [&](int call, int bytes) {
    std::filesystem::copy_file(ripe, path, std::filesystem::copy_options::overwrite_existing);
    REQUIRE(update_and_die(path, call, bytes, kMarkSize) == End::Killed);
    return mark_of(path).generation;
  };
  int call = 1;
  while (die_at(call, kMarkSize) == generation) ++call;
  for (int bytes = 0; bytes <= static_cast<int>(kMarkSize); ++bytes) {
    INFO(bytes << " bytes of the mark");
    const std::uint64_t now = die_at(call, bytes);
    CHECK((now == generation || bytes > 24));
    std::int64_t sum = 1;
    FileStore store(path);
    check_content(store, sum);
    store.queue_push("jobs", "more");
    CHECK(FileStore(path).queue_length("jobs") == kJobs + 1);
  }
}

// Killed by its destructor.
class Adder {
 public:
  // Writes a byte to `told` after each addition.
  Adder(const std::string& path, int told) : pid_(::fork()) {
    if (pid_ == 0) add_forever(path, told);
  }
  ~Adder() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Adder(const Adder&) = delete;
  Adder& operator=(const Adder&) = delete;

 private:
  [[noreturn]] static void add_forever(const std::string& path, int told) noexcept {
    FileStore store(path);
    for (;;) {
      store.set("filler", std::string(4 * kFiller, 'x'));
      store.add("sum", 1);
      if (::write(told, "x", 1) != 1) ::_exit(1);
    }
  }

  const pid_t pid_;
};

TEST_CASE("processes that compact are killed at any moment, and no sum that was returned is lost") {
  constexpr int kAdders = 3;
  const Scratch folder;
  const std::string path = folder.path() + "/store";
  base::Rng random(21);
  std::int64_t least = 0, killed = 0;
  for (int round = 0; round < 12; ++round) {
    base::FdPair told = base::make_pipe();
    char byte = 0;
    {
      std::vector<std::unique_ptr<Adder>> adders;
      for (int i = 0; i < kAdders; ++i) adders.push_back(std::make_unique<Adder>(path, told.second.get()));
      told.second.reset();
      for (std::uint64_t left = random.below(20); left > 0; --left, ++least) {
        REQUIRE(::read(told.first.get(), &byte, 1) == 1);
      }
    }
    while (::read(told.first.get(), &byte, 1) == 1) ++least;
    killed += kAdders;
    FileStore store(path);
    const std::int64_t sum = store.add("sum", 0);
    INFO("round " << round);
    CHECK(sum >= least);
    CHECK(sum <= least + killed);
  }
  CHECK(mark_of(path).generation > 5);
}

}  // namespace
}  // namespace distrun::stores
