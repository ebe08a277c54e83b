#include <distrun/runner/history/limits.hpp>

#include <algorithm>
#include <vector>

#include <distrun/common/base/error.hpp>

namespace distrun::history {
namespace {

constexpr std::int64_t kPagesAtOnce = 4096;  // freed per call; moving a page takes microseconds

struct Pages {
  std::int64_t all = 0;
  std::int64_t free = 0;
  std::int64_t limit = 0;
};

Pages pages_of(Database& database, const Limits& limits) {
  return {database.number("PRAGMA page_count"), database.number("PRAGMA freelist_count"),
          limits.bytes / database.number("PRAGMA page_size")};
}

class Remover {
 public:
  explicit Remover(Database& database)
      : tests_(database, "SELECT DISTINCT test FROM result WHERE run = ?"),
        drop_results_(database, "DELETE FROM result WHERE run = ?"),
        drop_test_(database, "DELETE FROM test WHERE id = ? AND NOT EXISTS (SELECT 1 FROM result WHERE test = ?)"),
        oldest_(database, "SELECT id FROM run ORDER BY at_ms, id LIMIT 1"),
        drop_run_(database, "DELETE FROM run WHERE id = ?") {}

  // Returns false if there is no run.
  bool remove_oldest() {
    const auto run = oldest_.first();
    if (!run) return false;
    std::vector<std::int64_t> tests;
    tests_.with(*run);
    while (tests_.step()) tests.push_back(tests_.integer(0));
    drop_results_.run(*run);
    for (const std::int64_t test : tests) drop_test_.run(test, test);
    drop_run_.run(*run);
    return true;
  }

 private:
  Statement tests_;
  Statement drop_results_;
  Statement drop_test_;
  Statement oldest_;
  Statement drop_run_;
};

bool is_too_large(Database& database, const Limits& limits) {
  const Pages pages = pages_of(database, limits);
  return pages.all - pages.free > pages.limit;
}

}  // namespace

void keep_limits(Database& database, const Limits& limits) {
  std::int64_t too_many = database.number("SELECT count(*) FROM run") - limits.runs;
  if (too_many <= 0 && !is_too_large(database, limits)) return;
  Remover remover(database);
  for (; too_many > 0; --too_many) remover.remove_oldest();
  while (is_too_large(database, limits) && remover.remove_oldest()) {
  }
}

void give_back_space(Database& database, const Limits& limits) {
  const Pages pages = pages_of(database, limits);
  const std::int64_t too_many = pages.all - pages.limit;
  const std::int64_t idle = pages.free > pages.all / 4 ? pages.free - pages.all / 8 : 0;
  const std::int64_t count = std::min({std::max(too_many, idle), pages.free, kPagesAtOnce});
  if (count <= 0) return;
  try {
    database.run(("PRAGMA incremental_vacuum(" + std::to_string(count) + ")").c_str());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Timeout) throw;  // another process is writing: the next call will do it
  }
}

}  // namespace distrun::history
