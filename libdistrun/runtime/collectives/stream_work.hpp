#pragma once
// Work of a backend that moves bytes where they are, on GPUs: something on a stream, of which the host may ask how far
// it is.
#include <exception>
#include <optional>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/location.hpp>

namespace distrun::collectives {

// Any thread.
class StreamWork {
 public:
  StreamWork() = default;
  virtual ~StreamWork() = default;
  StreamWork(const StreamWork&) = delete;
  StreamWork& operator=(const StreamWork&) = delete;

  // The stream has come to its end, or it has failed. The host has seen it then.
  virtual bool done() = 0;
  // Null: none is known by now.
  virtual std::exception_ptr error() = 0;
  // The calling thread's current stream waits for it, and the host does not, unless it blocks: that is what barriers
  // do, what the backend may be told to do, and what a timeout asks for. Throws its error, if it is known, and
  // Error{Timeout} if `timeout` is over first: the work goes on all the same.
  virtual void wait(std::optional<base::Nanoseconds> timeout, base::Location site) = 0;
};

}  // namespace distrun::collectives
