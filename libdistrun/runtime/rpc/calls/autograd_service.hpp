#pragma once
// The interface of distributed autograd (dist_autograd) to calls. It is consulted for each message that is sent in a
// context or has tensors that require a gradient, and writes the section Autograd for the receiver.
#include <memory>
#include <optional>

#include <distrun/common/base/location.hpp>
#include <distrun/runtime/rpc/devices/device_map.hpp>
#include <distrun/runtime/rpc/message.hpp>
#include <distrun/runtime/rpc/values/differentiable.hpp>
#include <distrun/runtime/rpc/worker_info.hpp>

namespace distrun::rpc {

inline constexpr std::int64_t kNoContext = -1;

// A message that is about to be sent.
struct Departure {
  std::int64_t context = kNoContext;  // the context that it is sent in
  const TensorList& tensors;          // those that require a gradient
  const TensorList& carried;          // all in the message; of sparse ones indices and values
  WorkerKey to;
  bool is_answer = false;
  const char* callee = "";  // lives until the process ends
  base::Location site{};    // of the call; empty for an answer
};

struct Departed {
  Section section;
  std::int64_t context = kNoContext;
  std::int64_t message = -1;  // its number among the kept ones; -1: not kept
};

// One per session. Thread-safe.
class AutogradService {
 public:
  virtual ~AutogradService() = default;
  // Returns nullopt if no section is needed.
  virtual std::optional<Departed> depart(const Departure& departure) = 0;
  // Called if the message was not sent.
  virtual void withdraw(std::int64_t context, std::int64_t message) noexcept = 0;
  // Called for a received message. `carried`: its tensors as they will be read; `back`: the device map for answers to
  // it. Returns null if nothing is kept. Throws Error{InvalidArgument} for a section that depart() has not written.
  virtual std::unique_ptr<Arrival> arrive(const WorkerInfo& from, const wire::Bytes& section, const TensorList& carried,
                                          const DeviceMap& back) = 0;
};

// Returns the context that a message was sent in (the first field of the section Autograd); kNoContext without one, or
// if it is malformed.
std::int64_t context_of(const Message& message) noexcept;
// Calls arrive(); returns null without a section. Throws Error{InvalidArgument} for a section without a service.
std::unique_ptr<Arrival> arrival_of(AutogradService* service, const WorkerInfo& from, const Message& message,
                                    const DeviceMap& back);

}  // namespace distrun::rpc
