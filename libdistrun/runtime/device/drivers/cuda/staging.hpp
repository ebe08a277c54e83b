#pragma once
// Runs kernels that CUDA has no code for. The memory that such a kernel touches is copied to pinned host memory, a host
// callback runs the kernel's code there, and written regions are copied back: all in the stream's order, without making
// the host wait.
//
//   device   | region |  holes  | region |          stream:  copies in -> host code -> copies out
//   host     | region |  free   | region |          the same distances, so that the code's offsets stay valid
//
// Overlapping regions form one span that keeps the distances between them, so that they also share memory on the host.
// Only the bytes of the regions are read and written, not those between them: a region without holes is copied as a
// block, one with holes by a kernel that touches only its elements, since a GPU reaches pinned memory. Thread-safe.
#include <distrun/runtime/device/driver.hpp>
#include <distrun/runtime/device/drivers/cuda/own_kernels.hpp>
#include <distrun/runtime/device/memory/pinned_cache.hpp>

namespace distrun::device {

class Staging {
 public:
  // Both must outlive it.
  Staging(Driver& driver, const OwnKernels& kernels)
      : driver_(driver), kernels_(kernels), host_(driver, kWaitingMost) {}

  // Destroys the kernel's code on the callback's thread. On a stream that has failed before, the code does not run, and
  // its results are undefined. Throws Error{Overloaded, "OutOfMemoryError"} before anything is done.
  void launch(StreamRef stream, Kernel kernel);

 private:
  // Limit of the host memory of unfinished launches; beyond it a launch waits for the oldest.
  static constexpr std::size_t kWaitingMost = std::size_t{1} << 30;

  struct Staged;

  std::vector<Staged> stage(const Kernel& kernel) const;  // sorted by address
  static std::int64_t lay_out(std::vector<Staged>& staged, std::int64_t begin);
  void copy(StreamRef stream, const Lattice& bytes, std::int64_t to, std::int64_t from) const;

  Driver& driver_;
  const OwnKernels& kernels_;
  PinnedCache host_;
};

}  // namespace distrun::device
