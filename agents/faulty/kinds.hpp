#pragma once
// Which kind of message one is, for a plan of faults.
#include <optional>

#include <distrun/common/base/fault_plan.hpp>
#include <distrun/runtime/rpc/message.hpp>

namespace distrun::agents::faulty {

// Nothing: of a kind that no plan names.
std::optional<base::FaultKind> kind_of(const rpc::Message& message) noexcept;

}  // namespace distrun::agents::faulty
