#pragma once
// Finds the NCCL library. Depends only on the standard library, since the module (module.cpp) links nothing else of
// distrun.
#include <string>
#include <vector>

namespace distrun::collectives::nccl_line {

// Names a file, or the folder that has kLibraryName; no other place is searched then.
inline constexpr char kLibraryVariable[] = "DISTRUN_NCCL";
inline constexpr char kLibraryName[] = "libnccl.so.2";

// Returns the arguments for dlopen(), in the order in which to try them: the file that $DISTRUN_NCCL names; without
// that variable the bare name, for the loader's search, then existing files in the folders of Python packages
// (site-packages/nvidia/nccl/lib) and of the CUDA Toolkit.
std::vector<std::string> library_files();

}  // namespace distrun::collectives::nccl_line
