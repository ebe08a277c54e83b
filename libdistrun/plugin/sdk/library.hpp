#pragma once
// Tests that need a library which not every machine has.
#include <string>

#include <distrun/plugin/sdk/options.hpp>

namespace distrun {

// Skips before there is any rank if the dynamic loader cannot load `file` ("libfoo.so.1", or a path). Loading it runs
// its constructors in the process that lists the tests, in no rank.
SkipCondition skip_if_no_library(std::string file, std::string reason);

// For a body: loads `file` into this rank, for as long as the process lives. If that cannot be, the rank skips with the
// entry "importerror" of the skip table, and what the loader said is a note of the report. What the body throws
// afterwards is the body's: it fails.
void require_library(const std::string& file);

}  // namespace distrun
