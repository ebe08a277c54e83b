#pragma once
// Of ranks that interpret a script, stacks show the interpreter. Which script it is can be told; which of its lines
// runs cannot be seen from outside, and a reader should not look for it.
#include <optional>
#include <string>
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

// The script that a Python interpreter was started with: "train.py", "module torch.run", "its -c argument"; nothing
// for other programs. `executable` is the file that runs, without its folder; `arguments` from argv[0] on.
std::optional<std::string> python_script(const std::string& executable, const std::vector<std::string>& arguments);

// The script, or the Python module, that an interpreter (Python's, a shell, Perl, Ruby, Node, R, Julia) was started
// with; nothing for other programs, and for code that stands in an argument or on standard input.
std::optional<std::string> find_script(const std::string& executable, const std::vector<std::string>& arguments);

// Adds a line for each script that the ranks of the look run, as /proc shows it at this moment.
void add_script_notes(Look& look);

}  // namespace distrun::runner
