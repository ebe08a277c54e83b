#pragma once
// Stacks of a rank that interprets a script show the interpreter. The script can be named, but the line that runs
// cannot be seen from outside, and readers should not look for it.
#include <optional>
#include <string>
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

// Returns the script that a Python interpreter was started with: "train.py", "module torch.run", "its -c argument";
// nothing for other programs. `executable` is the file name without its folder; `arguments` start at argv[0].
std::optional<std::string> python_script(const std::string& executable, const std::vector<std::string>& arguments);

// Returns the script or Python module that an interpreter (Python, a shell, Perl, Ruby, Node, R, Julia, Lua) was
// started with; nothing for other programs, or if the code is in an argument or on standard input.
std::optional<std::string> find_script(const std::string& executable, const std::vector<std::string>& arguments);

// Sets Process::script of the ranks that run on this machine, as /proc shows it now.
void find_scripts(evidence::Stacks& stacks);
// Adds a line for each script that the ranks of the snapshot are running.
void add_script_notes(Snapshot& snapshot);

}  // namespace distrun::runner
