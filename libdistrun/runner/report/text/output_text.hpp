#pragma once
// Formats the output of an attempt's ranks for the console: a title for each stream, every line after its rank.
//
//   stdout of ranks 0-1:
//   0-1| loaded 4 rows
#include <string>

#include <distrun/runner/record/record.hpp>
#include <distrun/runner/report/text/paint.hpp>

namespace distrun::report {

// Returns the culprits' output; if they wrote none, that of the first rank that did. At most 40 lines per stream.
std::string output_of_culprits(const runner::AttemptRecord& attempt, const Paint& paint);

// Returns all output, merging ranks with equal output. At most 10 000 lines per stream.
std::string output_of_all(const runner::AttemptRecord& attempt, const Paint& paint);

}  // namespace distrun::report
