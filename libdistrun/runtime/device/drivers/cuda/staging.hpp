#pragma once
// Kernels that CUDA has none of its own for. What such a kernel touches is copied to pinned memory of the host, its
// code runs there by a host callback, and what it has written is copied back: all of it in the stream's order, and the
// host does not wait.
//
//   device   | region |  holes  | region |          stream:  copies in -> host code -> copies out
//   host     | region |  free   | region |          the same distances, so that the code finds what it expects
//
// Regions that reach into each other are one span, with the distances between them; so what they share is shared on the
// host too. Only the bytes of the regions are read and written, whatever lies between them: a region without holes
// travels as a copy, one with holes by a kernel that touches its elements alone, since a GPU reaches pinned memory.
//
// Any thread.
#include <distrun/runtime/device/driver.hpp>
#include <distrun/runtime/device/drivers/cuda/own_kernels.hpp>
#include <distrun/runtime/device/memory/pinned_cache.hpp>

namespace distrun::device {

class Staging {
 public:
  // Both must outlive it.
  Staging(Driver& driver, const OwnKernels& kernels)
      : driver_(driver), kernels_(kernels), host_(driver, kWaitingMost) {}

  // The kernel's code is let go of on the thread of the callback. On a stream that has failed before it does not run,
  // and what it would have written is undefined. Throws Error{Overloaded, "OutOfMemoryError"} before anything is done.
  void launch(StreamRef stream, Kernel kernel);

 private:
  // What launches that are not done hold of the host; who asks for more waits for the oldest.
  static constexpr std::size_t kWaitingMost = std::size_t{1} << 30;

  struct Staged;

  std::vector<Staged> stage(const Kernel& kernel) const;  // by rising address
  static std::int64_t lay_out(std::vector<Staged>& staged, std::int64_t begin);
  void copy(StreamRef stream, const Lattice& bytes, std::int64_t to, std::int64_t from) const;

  Driver& driver_;
  const OwnKernels& kernels_;
  PinnedCache host_;
};

}  // namespace distrun::device
