#pragma once
// One rank of a contract's group.
#include <memory>
#include <string>

#include <distrun/runtime/collectives/backends.hpp>

#include "backend_contract.hpp"
#include "host_on_gpu.hpp"

namespace distrun::collectives {

inline GroupInfo group_of(int rank, int ranks) {
  GroupInfo group;
  group.name = "world";
  group.rank = rank;
  for (int i = 0; i < ranks; ++i) group.ranks.push_back(i);
  return group;
}

// `backend` must name one for host bytes.
inline std::unique_ptr<HostBackend> make_host_backend(const std::string& backend, const GroupInfo& group, Store& store,
                                                      base::TimePoint deadline) {
  return std::get<std::unique_ptr<HostBackend>>(make_backend(backend, group, store, deadline));
}

inline std::string what_it_throws(const std::string& backend, const GroupInfo& group, Store& store, const Body& body) {
  try {
    const auto made = make_backend(backend, group, store, base::system_clock().now() + std::chrono::seconds(60));
    if (const auto* const host = std::get_if<std::unique_ptr<HostBackend>>(&made)) {
      body(**host, group);
    } else {
      HostOnGpu adapted(*std::get<std::unique_ptr<DeviceBackend>>(made));
      body(adapted, group);
    }
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace distrun::collectives
