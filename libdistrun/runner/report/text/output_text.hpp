#pragma once
// What the ranks of an attempt have written, as the console shows it: a title for each stream, every line behind its
// rank.
//
//   stdout of ranks 0-1:
//   0-1| loaded 4 rows
#include <string>

#include <distrun/runner/record/record.hpp>
#include <distrun/runner/report/text/paint.hpp>

namespace distrun::report {

// Beside a failure: the culprits' output; where they are silent or there is none, that of the first who wrote. At most
// 40 lines of a stream.
std::string output_of_culprits(const runner::AttemptRecord& attempt, const Paint& paint);

// All that was written, ranks that wrote the same together. At most 10 000 lines of a stream.
std::string output_of_all(const runner::AttemptRecord& attempt, const Paint& paint);

}  // namespace distrun::report
