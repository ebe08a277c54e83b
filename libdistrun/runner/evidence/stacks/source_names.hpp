#pragma once
// Shortens names of source files: removes the folder that all of the test's files share; keeps the last two parts.
#include <string>
#include <string_view>

#include <distrun/runner/evidence/stacks/merge.hpp>

namespace distrun::evidence {

class SourceNames {
 public:
  explicit SourceNames(const StackTree& tree);

  // Returns "ring/ring_test.cpp:41"; the module if the file is unknown; else an empty string.
  std::string place_of(const wire::StackFrame& frame) const;

 private:
  std::string common_;  // common folder, with its trailing slash; empty: none
};

}  // namespace distrun::evidence
