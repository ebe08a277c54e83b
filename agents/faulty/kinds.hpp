#pragma once
// Classifies messages into the kinds that a plan of faults names.
#include <optional>

#include <distrun/common/wire/fault_plan.hpp>
#include <distrun/runtime/rpc/message.hpp>

namespace distrun::agents::faulty {

// Returns nullopt for a kind that no plan can name.
std::optional<wire::FaultKind> kind_of(const rpc::Message& message) noexcept;

}  // namespace distrun::agents::faulty
