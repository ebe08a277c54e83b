#pragma once
// Counts the CUDA devices for tests on this machine, without using CUDA: a process that has used it cannot fork.
#include <string>

namespace distrun::cli {

struct CudaDevices {
  int count = 0;
  std::string why_none;  // "this machine has no NVIDIA device"; empty: there are some
};

// Also finds none if this distrun has no CUDA module. $CUDA_VISIBLE_DEVICES may hide some. `host`: the machine's name,
// for a reader on another one.
CudaDevices find_cuda_devices(const std::string& host = "");
// If ctest has assigned GPUs to this process (resource "gpus" of a --resource-spec-file), sets $CUDA_VISIBLE_DEVICES to
// them, unless it is set. Call while there is one thread.
void take_gpus_of_ctest();
// The same for those that Slurm has given to the job step of this process, or else to its job.
void take_gpus_of_slurm();
// Counts the device nodes in `folder` (/dev except in tests) that $CUDA_VISIBLE_DEVICES shows.
CudaDevices count_cuda_devices(const std::string& folder, const std::string& host = "");

}  // namespace distrun::cli
