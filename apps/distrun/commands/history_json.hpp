#pragma once
// The output of `distrun history --json`: one document of the schema distrun.history/1.
#include <string>
#include <vector>

#include <distrun/runner/history/history.hpp>

namespace distrun::cli {

// At most `limit` tests; 0: all.
std::string table_json(const std::vector<history::TestLine>& lines, std::size_t limit);
std::string results_json(const std::vector<history::Result>& results);

}  // namespace distrun::cli
