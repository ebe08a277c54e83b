// Agents by name and by options, names of workers, and invalid backends, options and names.
#include "suites.hpp"

#include <atomic>

#include <distrun/runtime/rpc/compat.hpp>
#include <distrun/runtime/rpc/session/hooks.hpp>

#include "support/dist_backend.hpp"

using namespace distrun;
using namespace distrun::suites;

namespace {

// Knows four workers, and delivers no messages.
class StubAgent final : public rpc::Agent {
 public:
  explicit StubAgent(int world_size) {
    for (int each = 0; each < world_size; ++each) workers_.emplace_back("worker" + std::to_string(each), each);
  }

  const WorkerInfo& worker_info() const noexcept override { return workers_.front(); }
  std::vector<WorkerInfo> worker_infos() const override { return workers_; }
  std::string address() const override { return "nowhere"; }
  void add_worker(const rpc::WorkerRecord&) override {}
  void remove_worker(rpc::WorkerKey) noexcept override {}
  void start(rpc::Receiver&) override {}
  void send(rpc::WorkerKey, rpc::Message, rpc::Urgency) override {
    throw Error(ErrorKind::Disconnected, "this agent delivers no messages");
  }
  std::shared_ptr<future::Progress> progress() const noexcept override { return nullptr; }
  void close(base::Nanoseconds) noexcept override {}
  std::map<std::string, std::string> debug_info() const override { return {}; }

 private:
  std::vector<WorkerInfo> workers_;
};

// Options that no backend accepts.
struct FooBackendOptions : rpc::RpcBackendOptions {
  explicit FooBackendOptions(std::string address) { init_method = std::move(address); }
};

static_assert(!std::is_convertible_v<const char*, std::optional<rpc::Backend>>);
static_assert(!std::is_convertible_v<std::map<std::string, std::string>, decltype(rpc::InitOptions::options)>);
// A timeout is a number of seconds, never a duration type.
static_assert(!std::is_constructible_v<rpc::PipeOptions, int, std::chrono::seconds>);
static_assert(!std::is_constructible_v<rpc::PipeOptions, int, std::chrono::milliseconds>);

// The registry is shared by ranks that are threads of one process, and by the tests of persistent ranks.
std::string fresh_backend_name() {
  static std::atomic<int> made{0};
  return "stub_backend" + std::to_string(made++);
}

rpc::BackendInfo stub_backend(const std::string& name, const std::shared_ptr<std::atomic<int>>& made) {
  rpc::BackendInfo info;
  info.name = name;
  info.takes = [made](const rpc::RpcBackendOptions&) { return *made >= 0; };
  info.make_options = [] { return std::make_unique<rpc::PipeOptions>(); };
  info.make_met_agent = [made](Store&, const std::string&, int, int world_size, const rpc::RpcBackendOptions&) {
    ++*made;
    return std::make_shared<StubAgent>(world_size);
  };
  return info;
}

rpc::InitOptions init_options(const Rank& rank, std::shared_ptr<const rpc::RpcBackendOptions> options) {
  return {.name = std::string(rank.worker_name()),
          .backend = {},
          .rank = rank.rank(),
          .world_size = rank.world_size(),
          .options = std::move(options)};
}

}  // namespace

DISTRUN_TEST(RpcTest, register_rpc_backend_and_set_and_start_rpc_backend) {
  const auto made = std::make_shared<std::atomic<int>>(0);
  const std::string name = fresh_backend_name();
  const rpc::Backend backend = rpc::register_backend(stub_backend(name, made));
  const Thrown twice = thrown_by([&] { rpc::register_backend(stub_backend(name, made)); });
  DISTRUN_EXPECT(twice == an_error("RuntimeError", ""));
  DISTRUN_EXPECT(twice.text == "RPC backend " + name + ": already registered");

  bool autograd_began = false;
  std::shared_ptr<rpc::Agent> used;
  rpc::SessionHooks hooks;
  hooks.start_autograd = [&] { autograd_began = true; };
  hooks.use_agent = [&](std::shared_ptr<rpc::Agent> agent) { used = std::move(agent); };
  const rpc::UseHooks stand_ins(hooks);
  rpc::init_rpc({.name = "worker1",
                 .backend = backend,
                 .rank = rank.rank(),
                 .world_size = rank.world_size(),
                 .options = rpc_options(rank)});
  DISTRUN_EXPECT(autograd_began);
  DISTRUN_EXPECT(made->load() == 1);
  DISTRUN_REQUIRE(used != nullptr);
  const std::vector<WorkerInfo> workers = used->worker_infos();
  DISTRUN_REQUIRE(workers.size() == 4u);
  for (int each = 0; each < 4; ++each) {
    DISTRUN_EXPECT(workers[static_cast<std::size_t>(each)] == WorkerInfo("worker" + std::to_string(each), each));
  }
  *made = -1;  // accepts no options any more
}

DISTRUN_TEST(RpcTest, duplicate_name) {
  const auto options = rpc_options(rank);
  const auto store = meeting_store(rank);
  DISTRUN_EXPECT(thrown_by([&] {
                   rpc::init_rpc_backend(agent_backend(rank), store, "duplicate_name", rank.rank(), rank.world_size(),
                                         *options);
                 }) == an_error("RuntimeError", "is not unique"));
  DISTRUN_EXPECT(!rpc::is_initialized());
}

DISTRUN_TEST(RpcTest, duplicate_name_2) {
  rpc::InitOptions init = init_options(rank, rpc_options(rank));
  init.name = rank.worker_name(rank.rank() % (rank.world_size() - 1));
  init.backend = agent_backend(rank);
  DISTRUN_EXPECT(thrown_by([&] { rpc::init_rpc(init); }) == an_error("RuntimeError", "is not unique"));
  DISTRUN_EXPECT(!rpc::is_initialized());
}

DISTRUN_TEST(RpcTest, wrong_types) {
  using rpc::to_value;
  const auto init_with = [&](const rpc::Value& backend, const rpc::Value& options) {
    return thrown_by([&] {
      rpc::init_rpc_dynamic(std::string(rank.worker_name()), backend, to_value(rank.rank()),
                            to_value(rank.world_size()), options);
    });
  };
  DISTRUN_EXPECT(init_with(to_value("TENSORPIPE"), {}) ==
                 an_error("TypeError", "Argument backend must be a member of BackendType"));
  DISTRUN_EXPECT(!rpc::is_initialized());
  const std::map<std::string, std::string> map{{"init_method", rpc_address(rank)}};
  DISTRUN_EXPECT(init_with(to_value(agent_backend(rank)), to_value(map)) ==
                 an_error("TypeError", "Argument rpc_backend_options must be an instance of RpcBackendOptions"));
  DISTRUN_EXPECT(!rpc::is_initialized());
}

DISTRUN_TEST(RpcTest, cannot_infer_backend_from_options) {
  const auto init = init_options(rank, std::make_shared<FooBackendOptions>(rpc_address(rank)));
  DISTRUN_EXPECT(thrown_by([&] { rpc::init_rpc(init); }) ==
                 an_error("TypeError", "Could not infer backend for options"));
  DISTRUN_EXPECT(!rpc::is_initialized());
}

DISTRUN_TEST(TensorPipeAgentRpcTest, mismatched_type_for_options) {
  auto init = init_options(rank, std::make_shared<FooBackendOptions>(rpc_address(rank)));
  init.backend = rpc::find_backend("TENSORPIPE");
  DISTRUN_EXPECT(thrown_by([&] { rpc::init_rpc(init); }) ==
                 an_error("TypeError", "`rpc_backend_options` must be a `TensorPipeRpcBackendOptions`"));
  DISTRUN_EXPECT(!rpc::is_initialized());
}

// The session is left open: the end of the test closes it.
DISTRUN_TEST(TensorPipeAgentRpcTest, infer_backend_from_options) {
  rpc::init_rpc(init_options(rank, rpc_options(rank)));
  const auto agent = rpc::current_agent();
  DISTRUN_EXPECT(agent->worker_info() == WorkerInfo(std::string(rank.worker_name()), rank.rank()));
  bool is_pipe = false, is_faulty = false;
  for (const auto& [key, value] : agent->debug_info()) {
    is_pipe = is_pipe || key.rfind("pipe.", 0) == 0;
    is_faulty = is_faulty || key.rfind("faulty.", 0) == 0;
  }
  DISTRUN_EXPECT(is_faulty == (rank.agent() == "faulty"));
  if (!is_faulty) DISTRUN_EXPECT(is_pipe == (rank.agent() == "pipe"));
}

DISTRUN_TEST(TensorPipeAgentRpcTest, set_and_get_num_worker_threads) {
  const auto options = rpc_options(rank);
  options->num_worker_threads = 27;
  start_rpc(rank, options);
  DISTRUN_EXPECT(rpc::debug_info().at("agent.thread_pool_size") == "27");
  rpc::shutdown();
}

DISTRUN_TEST(TensorPipeAgentRpcTest, tensorpipe_set_default_timeout) {
  const auto options = rpc_options(rank);
  options->rpc_timeout = 100;
  start_rpc(rank, options);
  DISTRUN_EXPECT(rpc::get_rpc_timeout() == 100);
  rpc::shutdown();
}

DISTRUN_TEST(TensorPipeAgentRpcTest, tensorpipe_options_throw_on_timedelta_timeout) {
  const auto options_with = [](const rpc::Value& timeout) {
    return rpc::PipeOptions::from(rpc::to_value(std::map<std::string, rpc::Value>{{"rpc_timeout", timeout}}));
  };
  DISTRUN_EXPECT(options_with(rpc::to_value(5.0)).rpc_timeout == 5.0);
  DISTRUN_EXPECT(thrown_by([&] { options_with(rpc::to_value("100 s")); }) ==
                 an_error("TypeError", "incompatible constructor arguments"));
}
