#include <distrun/common/board/seq_cell.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <thread>

using distrun::board::SeqCell;

namespace {

struct Record {
  std::array<std::uint64_t, 24> words{};
};

Record filled_with(std::uint64_t value) {
  Record record;
  record.words.fill(value);
  return record;
}

bool is_whole(const Record& record) {
  for (const std::uint64_t word : record.words) {
    if (word != record.words.front()) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a cell that was never written has no value") {
  const SeqCell<Record> cell;
  CHECK_FALSE(cell.read().has_value());
}

TEST_CASE("a cell returns the last value written") {
  SeqCell<Record> cell;
  for (std::uint64_t value = 1; value < 100; ++value) {
    REQUIRE(cell.try_write(filled_with(value)));
    REQUIRE(cell.read().has_value());
    CHECK(cell.read()->words == filled_with(value).words);
  }
}

TEST_CASE("a reader never sees half a record, while a writer writes without pause") {
  SeqCell<Record> cell;
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (std::uint64_t value = 1; !stop; ++value) cell.try_write(filled_with(value));
  });
  int seen = 0;
  std::uint64_t last = 0;
  while (seen < 20'000) {
    const auto record = cell.read();
    if (!record) continue;
    ++seen;
    if (!is_whole(*record) || record->words.front() < last) {
      stop = true;
      writer.join();
      FAIL("record " << record->words.front() << " after " << last << (is_whole(*record) ? "" : ", torn"));
    }
    last = record->words.front();
  }
  stop = true;
  writer.join();
}

TEST_CASE("one of several concurrent writers writes, and no record is torn") {
  SeqCell<Record> cell;
  std::atomic<int> written{0};
  std::vector<std::thread> writers;
  for (std::uint64_t me = 1; me <= 4; ++me) {
    writers.emplace_back([&, me] {
      for (int i = 0; i < 5'000; ++i) written += cell.try_write(filled_with(me)) ? 1 : 0;
    });
  }
  int torn = 0;
  while (written < 1'000) {
    const auto record = cell.read();
    torn += record && !is_whole(*record) ? 1 : 0;
  }
  for (std::thread& writer : writers) writer.join();
  CHECK(torn == 0);
  CHECK(is_whole(cell.read().value()));
}

TEST_CASE("a claimed cell cannot be claimed again until it is released, and then it is empty") {
  SeqCell<Record> cell;
  REQUIRE(cell.claim(filled_with(1)));
  CHECK_FALSE(cell.claim(filled_with(2)));
  CHECK(cell.read()->words == filled_with(1).words);
  CHECK(cell.releases() == 0);
  cell.release();
  CHECK_FALSE(cell.read().has_value());
  CHECK(cell.releases() == 1);
  CHECK(cell.claim(filled_with(3)));
}

TEST_CASE("a record that is claimed in part has only that part written") {
  SeqCell<Record> cell;
  REQUIRE(cell.claim(filled_with(1)));
  cell.release();
  REQUIRE(cell.claim(filled_with(2), 9));  // a word and a byte: two words
  const Record record = cell.read().value();
  CHECK(record.words[1] == 2);
  CHECK(record.words[2] == 1);
}

TEST_CASE("a cell that threads claim in turns belongs to one at a time") {
  SeqCell<Record> cell;
  std::atomic<int> owners{0};
  std::atomic<int> worst{0};
  std::vector<std::thread> threads;
  for (std::uint64_t me = 1; me <= 4; ++me) {
    threads.emplace_back([&, me] {
      for (int i = 0; i < 20'000; ++i) {
        if (!cell.claim(filled_with(me))) continue;
        const int now = ++owners;
        if (now > worst) worst = now;
        --owners;
        cell.release();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(worst == 1);
  CHECK_FALSE(cell.read().has_value());
}

TEST_CASE("a cell with a writer that stopped in the middle is skipped by readers and by writers") {
  // The first word of a cell is its sequence number; it is odd during a write.
  SeqCell<Record> cell;
  REQUIRE(cell.try_write(filled_with(7)));
  reinterpret_cast<std::atomic<std::uint64_t>*>(&cell)->store(3);
  CHECK_FALSE(cell.read().has_value());
  CHECK_FALSE(cell.try_write(filled_with(8)));
  CHECK_FALSE(cell.claim(filled_with(8)));
}
