#pragma once
// The line between the backend nccl and what moves its bytes: NCCL itself, by the module (module.cpp), or on virtual
// GPUs a stand-in (virtual_library.hpp). It is headers alone: neither side needs a symbol of the other.
//
// What goes wrong is a std::exception with the library's own words. One that is an Error of ours, as the stand-in has
// them, goes on to the user as it is.
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

// What ranks know of each other before they meet: made by one, told to all.
using Id = std::array<char, 128>;
using Version = std::array<int, 3>;

struct Joining {
  Id id{};
  GroupInfo group;
  device::Device gpu;
  base::TimePoint deadline;
};

struct Failure {
  std::exception_ptr why;   // null: nothing has gone wrong
  std::uint64_t first = 0;  // number of the call that has failed; 0: all that are not done
};

// Of some ranks, with a GPU each. Any thread, but put() one at a time.
class Communicator {
 public:
  virtual ~Communicator() = default;
  // Puts the call on the stream; its bytes are the GPU's. Letters are of two ranks: from the first to the second.
  virtual void put(const Call& call, device::StreamRef stream) = 0;
  // What has gone wrong since, by itself. Does not block.
  virtual Failure failure() = 0;
  // Places of those that the call under way waits for, where the library knows them.
  virtual std::vector<int> missing() const { return {}; }
  // What is on streams ends, here at once, and is without meaning; other ranks may hear why.
  virtual void abort(const std::string& why) noexcept = 0;
  // Nothing is on streams any more.
  virtual void close() noexcept = 0;
  // Of those ranks of it that are in `group`, in which all of them are asked for one: without another meeting. Null for
  // a `group` without ranks: this one is in none. Throws where Library::splits() is false.
  virtual std::unique_ptr<Communicator> split(const GroupInfo& group, int colour, base::TimePoint deadline) = 0;
};

class Library {
 public:
  virtual ~Library() = default;
  virtual Version version() const = 0;
  virtual Id make_id() = 0;
  // Waits for all of its ranks, until the deadline.
  virtual std::unique_ptr<Communicator> connect(const Joining& joining) = 0;
  // Whether its communicators find out which ranks do not come, or do not call the same, and fail with that.
  virtual bool compares() const noexcept = 0;
  virtual bool splits() const noexcept = 0;
  // Where its RAS listens (ras.hpp), which may know why a call does not end; empty: it has none.
  virtual std::string ras_address() const = 0;
};

// What the module's symbol kEntry is.
struct Module {
  int version = 0;  // kVersion, or it is of another distrun
  // Null, and why: there is no library of NCCL on this machine, or an old one. Good until the process ends.
  Library* (*open)(std::string& why_none) = nullptr;
};
inline constexpr int kVersion = 3;
inline constexpr char kFile[] = "distrun_nccl.so";
inline constexpr char kEntry[] = "distrun_nccl_module";

}  // namespace distrun::collectives::nccl_line
