#pragma once
// Bounds the size of the history. Runs are removed oldest first, with the results and tests that only they had.
#include <cstddef>
#include <cstdint>

#include <distrun/runner/history/database.hpp>

namespace distrun::history {

struct Limits {
  int results_per_test = 200;
  int runs = 2000;
  std::int64_t bytes = std::int64_t{256} << 20;  // of the file, without free pages
};

// Messages of results are cut to this length.
inline constexpr std::size_t kMessageMax = 300;

// Call within the transaction that added data.
void keep_limits(Database& database, const Limits& limits);
// Keeps free pages for reuse, unless there are many: then returns some to the file system. Not within a transaction.
void give_back_space(Database& database, const Limits& limits);

}  // namespace distrun::history
