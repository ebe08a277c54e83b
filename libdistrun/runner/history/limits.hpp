#pragma once
// How the history stays small. Runs go oldest first, and with them the results and tests that only they had.
#include <distrun/runner/history/history.hpp>

namespace distrun::history {

// Within the transaction that made it grow.
void keep_limits(Database& database, const Limits& limits);
// Free pages serve again; many of them are given back to the file system instead. Not within a transaction.
void give_back_space(Database& database, const Limits& limits);

}  // namespace distrun::history
