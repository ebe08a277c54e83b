#pragma once
// Work of a GPU backend: an operation on a stream that the host may query.
#include <exception>
#include <optional>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/location.hpp>

namespace distrun::collectives {

// Thread-safe.
class StreamWork {
 public:
  StreamWork() = default;
  virtual ~StreamWork() = default;
  StreamWork(const StreamWork&) = delete;
  StreamWork& operator=(const StreamWork&) = delete;

  // Returns true if the stream has finished the work or the work failed; the host is then synchronized with it.
  virtual bool done() = 0;
  // Returns null while no error is known.
  virtual std::exception_ptr error() = 0;
  // Makes the calling thread's current stream wait. The host blocks only for barriers, with a `timeout`, or if the
  // backend is configured to block. Throws the work's error, if known, and Error{Timeout} after `timeout`; the work
  // continues.
  virtual void wait(std::optional<base::Nanoseconds> timeout, base::Location site) = 0;
};

}  // namespace distrun::collectives
