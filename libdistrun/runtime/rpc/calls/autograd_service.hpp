#pragma once
// What distributed autograd (the room dist_autograd) has to do with calls: it is asked of each message that has tensors
// which require a gradient, or that is made in a context, and says in the section Autograd what its receiver needs to
// know.
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
  std::int64_t context = kNoContext;  // that it is made in
  const TensorList& tensors;          // that require a gradient
  const TensorList& carried;          // all that are in it; of sparse ones indices and values
  WorkerKey to;
  bool is_answer = false;
  const char* callee = "";  // lives until the process ends
  base::Location site{};    // of the call; of an answer none
};

struct Departed {
  Section section;
  std::int64_t context = kNoContext;
  std::int64_t message = -1;  // its number among those that are kept; -1: it is not kept
};

// Of one session. Any thread.
class AutogradService {
 public:
  virtual ~AutogradService() = default;
  // Nothing: there is nothing to say.
  virtual std::optional<Departed> depart(const Departure& departure) = 0;
  // It was not sent.
  virtual void withdraw(std::int64_t context, std::int64_t message) noexcept = 0;
  // One has come; `carried` are its tensors as they will be read, `back` the devices of what is sent back to its
  // sender. Null: nothing of it is kept. Throws Error{InvalidArgument} for what no depart() has written.
  virtual std::unique_ptr<Arrival> arrive(const WorkerInfo& from, const wire::Bytes& section, const TensorList& carried,
                                          const DeviceMap& back) = 0;
};

// The section of a message; null: it has none.
const Section* autograd_section_of(const Message& message) noexcept;
// The context that a message was made in, which its sender has put first in the section; none, also if it makes no
// sense.
std::int64_t context_of(const Message& message) noexcept;
// As arrive(); null without a section. Throws Error{InvalidArgument} if there is one and no service.
std::unique_ptr<Arrival> arrival_of(AutogradService* service, const WorkerInfo& from, const Message& message,
                                    const DeviceMap& back);

}  // namespace distrun::rpc
