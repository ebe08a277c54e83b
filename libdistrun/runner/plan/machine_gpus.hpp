#pragma once
// The GPUs of a run whose ranks run on other machines than this: how many there are, and whether the ranks of a test
// have theirs. `machines` are those of launch::Node::machines().
#include <string>
#include <vector>

#include <distrun/runner/launch/resources.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

// Returns how many devices a rank on that machine sees, emulated ones included.
int gpus_on(const launch::Resources& machine, const Settings& settings);
// Returns their sum.
int gpus_in_all(const std::vector<launch::Resources>& machines, const Settings& settings);
// Replaces what the settings say of this machine's GPUs by what the machines have. Does nothing without machines, or if
// the run emulates GPUs or uses none.
void take_gpus(const std::vector<launch::Resources>& machines, Settings& settings);

// Returns why the ranks of a test lack devices if each machine runs so many of them: "needs 2 devices on node02, which
// has 1"; empty: they have them. Ranks that are to see a device each need as many as run there.
std::string why_no_devices(const wire::TestInfo& test, const std::vector<launch::Resources>& machines,
                           const std::vector<int>& ranks, const Settings& settings);

}  // namespace distrun::runner
