#pragma once
// Ranks that are threads, each with a separate state, and a backend with agents that connect them.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/core/thread_state.hpp>
#include <distrun/runtime/rpc/session/session.hpp>
#include <distrun/runtime/store/hash_store.hpp>

#include "agents/inproc/inproc_agent.hpp"
#include "support/gpus.hpp"

namespace distrun::rpc {

inline Backend test_backend() {
  static const Backend backend = register_backend(
      {"threads of a test",
       [](const RpcBackendOptions& options) { return dynamic_cast<const PipeOptions*>(&options) != nullptr; },
       [] { return std::make_unique<PipeOptions>(); },
       [](const AgentSetting& setting, const RpcBackendOptions&) -> std::shared_ptr<Agent> {
         return std::make_shared<agents::inproc::InprocAgent>(setting);
       },
       {}});
  return backend;
}

inline std::string name_of(int rank) { return "worker" + std::to_string(rank); }

class Ranks {
 public:
  explicit Ranks(int world_size) : world_size_(world_size) {
    distrun::testing::use_gpus();  // before any other use of devices
    // States live until the process ends, and must stay reachable for the leak checker.
    static auto* const all = new std::vector<core::RankState*>;
    for (int rank = 0; rank < world_size; ++rank) states_.push_back(all->emplace_back(new core::RankState));
  }
  ~Ranks() {
    for (core::RankState* const each : states_) end_session(*each);
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int world_size() const noexcept { return world_size_; }
  const std::shared_ptr<Store>& store() const noexcept { return store_; }
  core::RankState& state(int rank) const { return *states_.at(static_cast<std::size_t>(rank)); }

  // Runs the body as each rank, on separate threads; returns the exceptions as "Type: text", empty: none.
  std::vector<std::string> run(const std::function<void(int rank)>& body) const {
    std::vector<std::string> errors(states_.size());
    {
      std::vector<std::unique_ptr<base::Thread>> threads;
      for (int rank = 0; rank < world_size_; ++rank) {
        threads.push_back(std::make_unique<base::Thread>("rank" + std::to_string(rank), [&, rank] {
          errors[static_cast<std::size_t>(rank)] = error_as(rank, [&] { body(rank); });
        }));
      }
      for (const auto& each : threads) each->join();
    }
    return errors;
  }
  // Runs the body as that rank on this thread.
  std::string error_as(int rank, const std::function<void()>& body) const {
    core::ThreadState own = core::thread_state();
    own.rank = &state(rank);
    const core::ThreadStateGuard guard(std::move(own));
    try {
      body();
      return "";
    } catch (const Error& error) {
      return error.type() + ": " + error.what();
    }
  }

  InitOptions options(int rank, std::shared_ptr<PipeOptions> options = std::make_shared<PipeOptions>()) const {
    if (options->store == nullptr) options->store = store_;
    InitOptions init;
    init.name = name_of(rank);
    init.backend = test_backend();
    init.rank = rank;
    init.world_size = world_size_;
    init.options = std::move(options);
    return init;
  }
  InitOptions elastic(int rank) const {
    InitOptions init = options(rank);
    init.world_size.reset();
    return init;
  }

 private:
  int world_size_;
  std::shared_ptr<Store> store_ = std::make_shared<HashStore>();
  std::vector<core::RankState*> states_;
};

inline std::vector<std::string> no_errors(int world_size) {
  return std::vector<std::string>(static_cast<std::size_t>(world_size));
}

// Returns the text of the exception, on any thread; empty: none.
inline std::string text_of_error(const std::function<void()>& body) {
  try {
    body();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace distrun::rpc
