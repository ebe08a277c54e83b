#pragma once
// Commands under which ranks are started: --wrap 'valgrind -q', --wrap-rank 2 'strace -f -o {work_dir}/trace'.
#include <string>
#include <vector>

namespace distrun::runner {

// The name of a rank's note with the path of a file that is kept after the run.
inline constexpr char kKeptFile[] = "kept file";

struct Wrapper {
  int rank = -1;        // -1: of each rank that has none of its own
  std::string command;  // as given
};

// Returns the command's words for this rank, with {rank}, {world_size} and {work_dir} replaced; empty: it has none.
std::vector<std::string> wrapper_of(const std::vector<Wrapper>& all, int rank, int world_size,
                                    const std::string& work_dir);
// Returns whether the rank's command writes to its work directory.
bool wrapper_uses_work_dir(const std::vector<Wrapper>& all, int rank);

}  // namespace distrun::runner
