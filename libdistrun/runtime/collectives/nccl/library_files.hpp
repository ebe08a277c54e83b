#pragma once
// Where the library of NCCL may be. Depends on the standard library only: the module (module.cpp) is linked with
// nothing else of distrun.
#include <string>
#include <vector>

namespace distrun::collectives::nccl_line {

// Names a file, or the folder that has kLibraryName; no other place is searched then.
inline constexpr char kLibraryVariable[] = "DISTRUN_NCCL";
inline constexpr char kLibraryName[] = "libnccl.so.2";

// Returns what to pass to dlopen(), in the order in which to try it: the file that $DISTRUN_NCCL names; without that
// variable the bare name, which the loader searches, then the files in the folders of Python packages
// (site-packages/nvidia/nccl/lib) and of the CUDA Toolkit. Of the latter only files that exist.
std::vector<std::string> library_files();

}  // namespace distrun::collectives::nccl_line
