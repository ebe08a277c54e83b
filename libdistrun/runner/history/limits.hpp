#pragma once
// How the history stays small. Runs go oldest first, and with them the results and tests that only they had.
#include <cstddef>
#include <cstdint>

#include <distrun/runner/history/database.hpp>

namespace distrun::history {

struct Limits {
  int results_per_test = 200;
  int runs = 2000;
  std::int64_t bytes = std::int64_t{256} << 20;  // of the file, without what is free in it
};

// The messages of results are cut to this.
inline constexpr std::size_t kMessageMax = 300;

// Within the transaction that made it grow.
void keep_limits(Database& database, const Limits& limits);
// Free pages serve again; many of them are given back to the file system instead. Not within a transaction.
void give_back_space(Database& database, const Limits& limits);

}  // namespace distrun::history
