#pragma once
// Supports tests that need a library which some machines lack.
#include <string>

#include <distrun/plugin/sdk/options.hpp>

namespace distrun {

// Skips before any rank starts if the dynamic loader cannot load `file` ("libfoo.so.1", or a path). Its constructors
// run in the process that lists the tests, not in a rank.
SkipCondition skip_if_no_library(std::string file, std::string reason);

// Loads `file` into this rank until the process ends. If that fails, the rank skips with the entry "importerror" of the
// skip table, and the loader's error becomes a note of the report. Later exceptions of the body fail as usual.
void require_library(const std::string& file);

}  // namespace distrun
