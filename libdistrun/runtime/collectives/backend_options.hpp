#pragma once
// Options for creating a backend, besides its group.
#include <memory>
#include <optional>

#include <distrun/runtime/collectives/backend.hpp>
#include <distrun/runtime/device/device.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::collectives {

struct BackendOptions {
  std::optional<device::Device> gpu{};  // the rank's GPU, for GPU backends; default: by rank number
  // Backend of the parent group, to reuse its resources: all of the parent's ranks take part in the creation.
  // `colour` is the same for the ranks of one new group.
  Backend* parent = nullptr;
  int colour = 0;
  std::shared_ptr<Store> store{};  // the same store, if it is used later; null: it lives as long as the backend
};

}  // namespace distrun::collectives
