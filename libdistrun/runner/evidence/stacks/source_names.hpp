#pragma once
// Names of source files as one reads them beside a stack: without the folder that all of the test's files have in
// common, and of what is left the last two parts.
#include <string>
#include <string_view>

#include <distrun/runner/evidence/stacks/merge.hpp>

namespace distrun::evidence {

class SourceNames {
 public:
  explicit SourceNames(const StackTree& tree);

  // "ring/ring_test.cpp:41"; where the file is not known, the module that the code is of; else empty.
  std::string place_of(const wire::StackFrame& frame) const;

 private:
  std::string common_;  // folder, with the last slash; empty: none
};

}  // namespace distrun::evidence
