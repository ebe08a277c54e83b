#pragma once
// The script that a rank interprets, from its command line. Stacks show the lines of some versions of Python; of
// another interpreter they show its functions, and readers should not look for a line of the script.
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
// Adds a line for each script that the ranks of the snapshot are running, if the stacks do not show its lines.
void add_script_notes(Snapshot& snapshot);

}  // namespace distrun::runner
