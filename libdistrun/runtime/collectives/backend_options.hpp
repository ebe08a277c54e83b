#pragma once
// What a backend is made with, beside its group.
#include <memory>
#include <optional>

#include <distrun/runtime/collectives/backend.hpp>
#include <distrun/runtime/device/device.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::collectives {

struct BackendOptions {
  std::optional<device::Device> gpu{};  // the rank's, for backends that are on one; else by its number
  // The group that it is made of, all ranks of which are asked for it at that time, if it is to take of that what it
  // can; and a number of those that are in it together.
  Backend* parent = nullptr;
  int colour = 0;
  std::shared_ptr<Store> store{};  // the same, for who meets again later; null: it lives as long as the backend
};

}  // namespace distrun::collectives
