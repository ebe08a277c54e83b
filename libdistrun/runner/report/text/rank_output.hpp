#pragma once
#include <cstddef>
#include <string>

#include <distrun/runner/record/record.hpp>

namespace distrun::report {

// What the ranks of an attempt wrote to `stream` (&RankRecord::out or err), every line after its rank: "[rank 2] ...".
// Culprits come first: what is left out beyond `bytes_max` is their neighbours' output.
std::string rank_output(const runner::AttemptRecord& attempt,
                        const runner::Captured runner::RankRecord::*stream, std::size_t bytes_max);

}  // namespace distrun::report
