#pragma once
// RPC workers that are threads of this process, each with a rank's state, for scenarios of failing steps. They have a
// fixed number and meet at one store.
#include <chrono>
#include <deque>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <agents/inproc/inproc_agent.hpp>
#include <agents/pipe/backend.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/core/thread_state.hpp>
#include <distrun/runtime/future/unseen_errors.hpp>
#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/session/session.hpp>
#include <distrun/runtime/store/hash_store.hpp>

#include "unit/failing_steps/attempt.hpp"

namespace distrun::testing {

// `agent`: "inproc", or a transport of the pipe.
inline rpc::Backend backend_for(const std::string& agent) {
  const auto takes = [](const rpc::RpcBackendOptions&) { return true; };
  const auto make_options = [] { return std::make_unique<rpc::PipeOptions>(); };
  const auto make_agent = [agent](const rpc::AgentSetting& setting,
                                  const rpc::RpcBackendOptions&) -> std::shared_ptr<rpc::Agent> {
    if (agent == "inproc") return std::make_shared<agents::inproc::InprocAgent>(setting);
    rpc::PipeOptions options;
    options.transports = {agent};
    return agents::pipe::make_pipe_agent(setting, options);
  };
  return rpc::register_backend({"failing steps over " + agent, takes, make_options, make_agent, {}});
}

class Workers {
 public:
  Workers(const std::string& agent, int count) : backend_(backend_for(agent)), count_(count) {
    static auto* const states = new std::deque<core::RankState>(8);  // live until the process ends
    for (int rank = 0; rank < count_; ++rank) states_.push_back(&(*states)[static_cast<std::size_t>(rank)]);
  }
  ~Workers() {
    for (core::RankState* const each : states_) {
      rpc::end_session(*each);
      future::unseen_errors_of(*each).take();
      future::unseen_errors_of(*each).take_failures();
    }
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Runs the body as that rank on this thread.
  template <class Body>
  auto as(int rank, const Body& body) const {
    core::ThreadState state;
    state.rank = states_[static_cast<std::size_t>(rank)];
    const core::ThreadStateGuard guard(std::move(state));
    return body();
  }
  // Runs the body as each rank, on a thread each. A fault of one is thrown once all have ended.
  void on_all(const std::function<void(int rank)>& body) const {
    std::mutex mutex;
    std::optional<Fault> fault;
    const auto run = [&](int rank) {
      try {
        as(rank, [&] { body(rank); });
      } catch (const Fault& found) {
        const std::lock_guard lock(mutex);
        fault = found;
      } catch (const std::exception& thrown) {
        const std::lock_guard lock(mutex);
        fault = Fault{"rank " + std::to_string(rank) + " threw afterwards: " + thrown.what()};
      }
    };
    {
      std::deque<base::Thread> threads;
      std::latch are_all_made(1);  // steps of one rank's body would count those of making the next thread
      for (int rank = 0; rank < count_; ++rank) {
        threads.emplace_back("rank" + std::to_string(rank), [&run, &are_all_made, rank] {
          are_all_made.wait();
          run(rank);
        });
      }
      are_all_made.count_down();
    }
    if (fault) throw *fault;
  }

  // Begins the session of the calling rank.
  void init(int rank, double timeout = 10) const { init_in_world(rank, count_, timeout); }
  // The same in a group that any worker may join.
  void join(int rank) const { init_in_world(rank, std::nullopt, 10); }
  void init_all() const {
    on_all([this](int rank) { init(rank); });
  }
  // Ends sessions that are left, so that the workers can meet again.
  void end_all() const {
    for (int rank = 0; rank < count_; ++rank) {
      as(rank, [] {
        if (rpc::is_initialized()) rpc::shutdown({.graceful = false});
      });
    }
  }
  void shut_down_all() const {
    on_all([](int) { rpc::shutdown({.timeout = 10}); });
  }

 private:
  void init_in_world(int rank, std::optional<int> world_size, double timeout) const {
    const auto options = std::make_shared<rpc::PipeOptions>();
    options->store = store_;
    options->init_timeout = timeout;
    options->rpc_timeout = 10;
    rpc::InitOptions init;
    init.name = "worker" + std::to_string(rank);
    init.backend = backend_;
    init.rank = rank;
    init.world_size = world_size;
    init.options = options;
    rpc::init_rpc(init);
  }

  const rpc::Backend backend_;
  const int count_;
  const std::shared_ptr<Store> store_ = std::make_shared<HashStore>();
  std::deque<core::RankState*> states_;
};

}  // namespace distrun::testing
