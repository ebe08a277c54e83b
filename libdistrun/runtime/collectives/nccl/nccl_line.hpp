#pragma once
// The interface between the backend nccl and the library that moves its bytes: NCCL itself, by the module (module.cpp),
// or a stand-in on virtual GPUs (virtual_library.hpp). Headers only: neither side needs a symbol of the other.
//
// Failures are std::exceptions with the library's text. The stand-in's are distrun Errors, which reach the user
// unchanged.
#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <distrun/runtime/collectives/call.hpp>
#include <distrun/runtime/device/device.hpp>

namespace distrun::collectives::nccl_line {

// The ID of a communicator: one rank creates it, all others get it before they connect.
using Id = std::array<char, 128>;
using Version = std::array<int, 3>;

struct Joining {
  Id id{};
  GroupInfo group;
  device::Device gpu;
  base::TimePoint deadline;
};

struct Failure {
  std::exception_ptr why;   // null: no failure
  std::uint64_t first = 0;  // number of the failed call; 0: all that are not done
};

// A communicator of some ranks, with a GPU each. Thread-safe, except that put() is called by one thread at a time.
class Communicator {
 public:
  virtual ~Communicator() = default;
  // Puts the call on the stream; its bytes are the GPU's. A message has two ranks: from the first to the second.
  virtual void put(const Call& call, device::StreamRef stream) = 0;
  // Returns a failure that has occurred since. Does not block.
  virtual Failure failure() = 0;
  // Returns the group ranks that the active call waits for, if the library knows them.
  virtual std::vector<int> missing() const { return {}; }
  // Ends the work on streams, at once on this rank, with undefined results; other ranks may get the reason.
  virtual void abort(const std::string& why) noexcept = 0;
  // Call when no work is left on streams.
  virtual void close() noexcept = 0;
  // All ranks of this communicator call it. Returns a communicator of those in `group`, without another meeting; null
  // for a `group` without ranks, on ranks that are in none. Throws if Library::splits() is false.
  virtual std::unique_ptr<Communicator> split(const GroupInfo& group, int colour, base::TimePoint deadline) = 0;
};

class Library {
 public:
  virtual ~Library() = default;
  virtual Version version() const = 0;
  virtual Id make_id() = 0;
  // Waits for all of its ranks, until the deadline.
  virtual std::unique_ptr<Communicator> connect(const Joining& joining) = 0;
  // Returns true if its communicators detect absent ranks and different calls, and fail with that error.
  virtual bool compares() const noexcept = 0;
  virtual bool splits() const noexcept = 0;
  // Returns the address of its RAS (ras.hpp), which may know why a call does not end; empty: no RAS.
  virtual std::string ras_address() const = 0;
};

// The type of the module's symbol kEntry.
struct Module {
  int version = 0;  // kVersion, or it is of another distrun
  // Returns null, and sets the reason, if this machine has no NCCL library or too old a one. Valid until the process
  // ends.
  Library* (*open)(std::string& why_none) = nullptr;
};
inline constexpr int kVersion = 3;
inline constexpr char kFile[] = "distrun_nccl.so";
inline constexpr char kEntry[] = "distrun_nccl_module";

}  // namespace distrun::collectives::nccl_line
