// A store's file does not grow with the number of updates, and readers and writers do not notice a compaction.
#include <catch2/catch.hpp>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <map>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/store/file_store.hpp>
#include <distrun/runtime/store/store_log.hpp>

#include "marks.hpp"
#include "support/environment.hpp"
#include "support/scratch.hpp"

namespace distrun::stores {
namespace {

using testing::Scratch;

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::string store_in(const Scratch& folder) { return folder.path() + "/store"; }

struct Sizes {
  std::size_t file = 0;
  std::size_t allocated = 0;
};
Sizes sizes_of(const std::string& path) {
  struct stat found {};
  REQUIRE(::stat(path.c_str(), &found) == 0);
  return {static_cast<std::size_t>(found.st_size), static_cast<std::size_t>(found.st_blocks) * 512};
}

std::uint64_t generation_of(const std::string& path) { return mark_of(path).generation; }

// Writes enough for a compaction.
void fill(Store& store) {
  for (int i = 0; i < 40; ++i) store.set("filler", std::string(64 * 1024, static_cast<char>('a' + i % 26)));
}

// Runs the bodies in separate processes; fails the test if one of them does not return.
void run_all(const std::vector<std::function<void()>>& bodies) {
  std::vector<pid_t> children;
  for (const auto& body : bodies) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      try {
        body();
      } catch (const std::exception& error) {
        (void)!::write(2, error.what(), std::strlen(error.what()));
        ::_exit(1);
      }
      ::_exit(0);
    }
    children.push_back(pid);
  }
  for (const pid_t each : children) {
    int status = -1;
    ::waitpid(each, &status, 0);
    CHECK(status == 0);
  }
}
void must(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string("not so: ") + what + "\n");
}

TEST_CASE("any number of updates of a few keys needs no more space than some thousand updates") {
  const Scratch folder;
  FileStore store(store_in(folder));
  const int updates = testing::runs_whole() ? 1'000'000 : 200'000;
  std::size_t most = 0;
  for (int i = 0; i < updates; ++i) {
    store.add("counter " + std::to_string(i % 5), 1);
    if (i % 5000 == 0) most = std::max(most, sizes_of(store.path()).allocated);
  }
  CHECK(most < 2 * kMiB);
  CHECK(sizes_of(store.path()).file > 20 * static_cast<std::size_t>(updates));
  for (int i = 0; i < 5; ++i) CHECK(store.add("counter " + std::to_string(i), 0) == updates / 5);
  CHECK(FileStore(store.path()).get("counter 3") == std::to_string(updates / 5));
}

TEST_CASE("a file is compacted when it is four times as large as its table, and not earlier") {
  constexpr std::size_t kLive = 32, kSize = kMiB / 8;
  const Scratch folder;
  FileStore store(store_in(folder));
  std::size_t begin = 0, base = 0;
  std::uint64_t generation = 1;
  int compactions = 0;
  for (std::size_t i = 0; i < 20 * kLive; ++i) {
    store.set("live " + std::to_string(i % kLive), std::string(kSize, static_cast<char>('a' + i % 26)));
    const LogMark mark = mark_of(store.path());
    if (mark.generation == generation) continue;
    ++compactions;
    CHECK(mark.generation == generation + 1);
    CHECK(mark.begin - begin >= 4 * std::max(base - begin, std::min(i, kLive) * kSize));
    CHECK(sizes_of(store.path()).allocated < 2 * kLive * kSize);
    generation = mark.generation;
    begin = mark.begin;
    base = mark.base;
  }
  CHECK(compactions >= 5);
  CHECK(compactions <= 7);
  CHECK(FileStore(store.path()).get("live 31").size() == kSize);
}

TEST_CASE("deleted keys are not kept by a compaction, and queues are kept in order") {
  const Scratch folder;
  FileStore store(store_in(folder));
  for (int i = 0; i < 100; ++i) store.set("gone " + std::to_string(i), std::string(1000, 'x'));
  for (int i = 0; i < 100; ++i) store.delete_key("gone " + std::to_string(i));
  for (int i = 0; i < 3000; ++i) store.queue_push("jobs", std::to_string(i) + std::string(1000, 'j'));
  store.queue_push("empty", "");
  store.set("empty value", "");
  store.set("", "of the empty key");
  for (int i = 0; i < 5; ++i) fill(store);
  CHECK(generation_of(store.path()) > 1);
  FileStore other(store.path());
  CHECK(other.num_keys() == 5);
  CHECK_FALSE(other.check({"gone 7"}));
  CHECK(other.get("").starts_with("of the"));
  CHECK(other.get("empty value").empty());
  CHECK(other.queue_pop("empty").empty());
  for (int i = 0; i < 3000; ++i) REQUIRE(other.queue_pop("jobs").starts_with(std::to_string(i) + "j"));
  CHECK(store.queue_length("jobs") == 0);
}

TEST_CASE("a store that was idle during compactions continues where the log begins now") {
  const Scratch folder;
  FileStore writer(store_in(folder)), idle(store_in(folder)), behind(store_in(folder));
  writer.add("sum", 1);
  CHECK(idle.add("sum", 0) == 1);
  for (int compactions = 1; compactions < 5; ++compactions) {
    const std::uint64_t before = generation_of(writer.path());
    writer.queue_push("jobs", std::to_string(compactions));
    while (generation_of(writer.path()) < before + static_cast<std::uint64_t>(compactions)) {
      writer.set("filler", std::string(64 * 1024, 'x'));
    }
    CHECK(idle.add("sum", 1) == 1 + compactions);
    CHECK(idle.queue_pop("jobs") == std::to_string(compactions));
    CHECK_FALSE(idle.try_queue_pop("jobs").has_value());
  }
  CHECK(behind.add("sum", 0) == 5);
}

TEST_CASE("processes that update and read beside compactions lose no update, and see none twice") {
  constexpr int kWriters = 3, kTimes = 400;
  const Scratch folder;
  const std::string path = store_in(folder);
  FileStore store(path);
  std::vector<std::function<void()>> bodies;
  for (int writer = 0; writer < kWriters; ++writer) {
    bodies.emplace_back([&path, writer] {
      FileStore own(path);
      std::int64_t last = 0;
      for (int time = 0; time < kTimes; ++time) {
        own.set("filler", std::string(32 * 1024, 'x'));
        must(own.add("own " + std::to_string(writer), 1) == time + 1, "no other process adds to it");
        const std::int64_t sum = own.add("sum", 1);
        must(sum > last, "a sum grows");
        last = sum;
        own.queue_push("jobs", std::to_string(writer) + " " + std::to_string(time));
      }
    });
  }
  for (int reader = 0; reader < 2; ++reader) {
    bodies.emplace_back([&path] {
      FileStore own(path);
      std::int64_t last = 0;
      while (last < kWriters * kTimes) {
        const std::int64_t sum = std::stoll(own.get("sum"));
        must(sum >= last, "a sum does not go back");
        last = sum;
      }
    });
  }
  bodies.emplace_back([&path] {
    FileStore own(path);
    std::map<std::string, int> next;
    for (int i = 0; i < kWriters * kTimes; ++i) {
      const std::string job = own.queue_pop("jobs");
      const std::size_t space = job.find(' ');
      must(std::stoi(job.substr(space)) == next[job.substr(0, space)]++, "each job comes once, in its order");
    }
  });
  run_all(bodies);
  CHECK(generation_of(path) > 10);
  CHECK(store.add("sum", 0) == kWriters * kTimes);
  CHECK(store.queue_length("jobs") == 0);
  CHECK(sizes_of(path).allocated < 8 * kMiB);
}

TEST_CASE("a compaction without enough space does not change the log, and is tried later") {
  const Scratch folder;
  FileStore store(store_in(folder));
  store.set("large", std::string(200 * 1024, 'l'));
  struct rlimit before {};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  ::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small { kMiB + kMiB / 8, before.rlim_max };  // for the log, and not for a snapshot after it
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  std::optional<std::string> wrong;
  try {
    while (sizes_of(store.path()).file < kMiB) store.set("small", std::string(32 * 1024, 's'));
    for (int i = 0; i < 3; ++i) store.add("sum", 1);
    if (generation_of(store.path()) != 1) wrong = "it was compacted";
  } catch (const Error& error) {
    wrong = error.what();
  }
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  ::signal(SIGXFSZ, SIG_DFL);
  CHECK(wrong == std::nullopt);
  CHECK(FileStore(store.path()).add("sum", 1) == 4);
  CHECK(store.get("large") == std::string(200 * 1024, 'l'));
  fill(store);
  CHECK(generation_of(store.path()) > 1);
  CHECK(store.add("sum", 1) == 5);
}

TEST_CASE("a store that was forked while it compacts works in both processes") {
  const Scratch folder;
  FileStore store(store_in(folder));
  fill(store);
  run_all({[&store] {
             for (int i = 0; i < 5; ++i) fill(store), store.add("sum", 1);
           },
           [&store] {
             for (int i = 0; i < 5; ++i) fill(store), store.add("sum", 1);
           }});
  fill(store);
  CHECK(store.add("sum", 0) == 10);
}

}  // namespace
}  // namespace distrun::stores
