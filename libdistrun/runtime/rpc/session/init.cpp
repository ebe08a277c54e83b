#include <algorithm>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/runtime/core/inline_function.hpp>
#include <distrun/runtime/rpc/session/detail/membership.hpp>
#include <distrun/runtime/rpc/session/detail/session_state.hpp>
#include <distrun/runtime/rpc/session/session.hpp>
#include <distrun/runtime/store/rank_store.hpp>

namespace distrun::rpc {
namespace {

using namespace std::chrono_literals;

// least time that workers wait for each other, even if calls have a shorter timeout
constexpr base::Nanoseconds kLeastTimeout = 30s;
constexpr int kSecretDigits = 32;
constexpr int kElasticWorldMax = 1 << 15;  // ids are less than this

// The parameters of a session that is about to begin.
struct Begin {
  Backend backend;
  std::shared_ptr<Store> store;
  WorkerInfo worker;
  int world_size = 0;  // 0: workers come and go
  bool serves = false;
  const RpcBackendOptions& options;
  base::Location site;
};

// Returns how long workers wait for each other.
base::Nanoseconds timeout_of(const RpcBackendOptions& options) {
  if (options.init_timeout > 0) return base::nanoseconds_of(options.init_timeout);
  return options.rpc_timeout > 0 ? std::max(base::nanoseconds_of(options.rpc_timeout), kLeastTimeout) : Store::kTimeout;
}

Error value_error(const std::string& text, base::Location site) {
  return Error(ErrorKind::InvalidArgument, "ValueError", text, site);
}

Backend choose_backend(const InitOptions& init) {
  if (init.backend) return *init.backend;
  return init.options != nullptr ? backend_of(*init.options) : find_backend(default_backend());
}

std::shared_ptr<const RpcBackendOptions> options_for(const Backend& backend,
                                                     const std::shared_ptr<const RpcBackendOptions>& wanted) {
  if (wanted != nullptr) return wanted;
  return backend.info().make_options ? backend.info().make_options() : std::make_unique<RpcBackendOptions>();
}

void check_options(const Backend& backend, const RpcBackendOptions& options, base::Location site) {
  if (!backend.takes(options)) {
    throw Error(ErrorKind::InvalidArgument, "TypeError",
                "`rpc_backend_options` must be a `TensorPipeRpcBackendOptions`, or what else backend " +
                    backend.name() + " takes",
                site);
  }
  if (!(options.rpc_timeout >= 0)) {
    throw Error(ErrorKind::InvalidArgument, "RuntimeError", "RPC Timeout must be non-negative", site);
  }
}

// ---- the store

bool is_served(const std::string& address) { return address.starts_with("tcp://") || address.starts_with("env://"); }

stores::Rendezvous rendezvous_of(const InitOptions& init, const RpcBackendOptions& options) {
  std::optional<int> world_size = init.world_size;
  const bool is_in_address = options.init_method.find("world_size=") != std::string::npos;
  if (!world_size && !is_in_address) world_size = kElasticWorldMax;
  return stores::rendezvous(options.init_method, init.rank, world_size, timeout_of(options));
}

// A newly opened store reads everything that was done in it since the test began, so it is opened once.
std::shared_ptr<Store> kept_rank_store(SessionState& state) {
  constexpr char kOfRank[] = "";  // not an address
  if (const auto kept = state.find_rendezvous(kOfRank)) return kept->store;
  const stores::Rendezvous opened{stores::rank_store(), 0, 0};
  state.keep(kOfRank, opened);
  return opened.store;
}

stores::Rendezvous find_store(SessionState& state, const InitOptions& init, const RpcBackendOptions& options,
                              base::Location site) {
  if (options.store == nullptr && !options.init_method.empty()) {
    const std::string key = (init.rank ? std::to_string(*init.rank) : "") + " " + options.init_method;
    if (const auto kept = state.find_rendezvous(key)) return *kept;
    const stores::Rendezvous found = rendezvous_of(init, options);
    state.keep(key, found);
    return found;
  }
  if (!init.rank) throw value_error("init_rpc: rank parameter missing", site);
  const int world_size = init.world_size.value_or(0);
  return {options.store != nullptr ? options.store : kept_rank_store(state), *init.rank, world_size};
}

// ---- workers meet

// Closes the session unless keep() is called.
class Closing {
 public:
  explicit Closing(std::shared_ptr<Session> session) : session_(std::move(session)) {}
  ~Closing() {
    if (session_ == nullptr) return;
    session_->close(base::if_memory([] { return Error(ErrorKind::Failed, "init_rpc has failed"); },
                                    [] { return base::out_of_memory(ErrorKind::Failed); }),
                    base::Nanoseconds());
  }
  Closing(const Closing&) = delete;
  Closing& operator=(const Closing&) = delete;

  void keep() noexcept { session_ = nullptr; }

 private:
  std::shared_ptr<Session> session_;
};

void start(SessionState& state, const std::shared_ptr<Session>& session) {
  const SessionHooks hooks = state.hooks();
  if (!hooks.use_agent) return session->start();
  state.set(session);
  hooks.use_agent(session->agent);
}

void agree_on_kind(Store& store, const Begin& begin) {
  const std::string own = begin.world_size > 0 ? "static" : "elastic";
  const std::string first = store.compare_set("kind", "", own, begin.site);
  if (first == own) return;
  throw Error(ErrorKind::Failed,
              "RPC group mixes statically and dynamically initialized members which is not supported. Here it is " +
                  own + ", elsewhere " + first + ": all members give a world size, or none",
              begin.site);
}

std::shared_ptr<Session> make_session(const Begin& begin, Incarnation incarnation, const std::string& secret) {
  const WorkerInfo worker(begin.worker.name(), WorkerKey(begin.worker.id(), incarnation));
  const AgentSetting setting{worker, begin.world_size, secret, timeout_of(begin.options)};
  return std::make_shared<Session>(core::rank_state(), begin.backend.info().make_agent(setting, begin.options),
                                   begin.options);
}

// Adds a member's worker to the agent; errors name the member.
void make_known(Agent& agent, const Member& member, base::Location site) {
  try {
    agent.add_worker(record_of(member));
  } catch (const Error& why) {
    throw Error(why.kind(), why.type(), member.name + " can't be reached by what it says of itself: " + why.text(),
                site);
  }
}

std::string round_name(int number) { return "round" + std::to_string(number); }

// Removes the keys of the rounds before `number`, in which all workers have met.
void forget_rounds(SessionState& state, const Begin& begin, const std::shared_ptr<Store>& store,
                   const std::string& secret, int number) {
  for (int each = state.rounds(secret).oldest; each < number; ++each) {
    PrefixStore before(round_name(each), store);
    forget_meeting(before, begin.worker.id(), begin.site);
  }
  state.set_rounds(secret, {number + 1, number});
}

// Meets in the next round, and begins the session. Returns why the round was given up; empty: the session has begun.
std::string begin_in_round(SessionState& state, const Begin& begin, const std::shared_ptr<Store>& store,
                           const std::string& secret, base::TimePoint deadline, const std::string& given_up) {
  const SessionState::Rounds rounds = state.rounds(secret);
  const SessionState::Rounds entered{rounds.next + 1, rounds.oldest};
  const std::string round = round_name(rounds.next);
  StaticGroup group{std::make_shared<PrefixStore>(round, store), begin.world_size, begin.serves, deadline, given_up,
                    [&] { state.set_rounds(secret, entered); }};
  group.store->set_timeout(store->timeout());
  const std::shared_ptr<Session> session = make_session(begin, 1, secret + "/" + round);
  Closing closing(session);
  Met met = meet_all(group, make_member(*session->agent, begin.options), begin.site);
  if (!met.given_up.empty()) {
    state.set_rounds(secret, entered);
    return met.given_up;
  }
  session->members = std::move(met.members);
  forget_rounds(state, begin, store, secret, rounds.next);
  for (const Member& each : session->members) {
    if (each.id != begin.worker.id()) make_known(*session->agent, each, begin.site);
  }
  start(state, session);
  closing.keep();
  return "";
}

void begin_static(SessionState& state, const Begin& begin, const std::shared_ptr<Store>& store,
                  const std::string& secret) {
  const base::TimePoint deadline = base::deadline_after(store->timeout());
  std::string given_up;
  do given_up = begin_in_round(state, begin, store, secret, deadline, given_up);
  while (!given_up.empty());
}

void begin_elastic(SessionState& state, const Begin& begin, const std::shared_ptr<Store>& store,
                   const std::string& secret) {
  const base::TimePoint deadline = base::deadline_after(store->timeout());
  const MemberLog::Turn turn = MemberLog::next_turn(*store, begin.worker.id());
  const std::shared_ptr<Session> session = make_session(begin, turn.incarnation, secret);
  Closing closing(session);
  Member self = make_member(*session->agent, begin.options);
  self.order = turn.order;
  if (self.names_devices()) self.site = own_device_site();
  const auto group = std::make_shared<ElasticGroup>(store, std::move(self));
  group->enter(*session->agent);
  session->elastic = group;
  try {
    start(state, session);
    if (session->calls != nullptr) {
      for (const Member& again : group->tell_others(*session->calls, deadline, begin.site)) {
        session->meetings.find_again(worker_of(again));
      }
    }
  } catch (...) {
    group->leave_silently();
    throw;
  }
  closing.keep();
}

// Begins a session with a backend that meets its peers without help.
void begin_met(SessionState& state, const Begin& begin, Store& store) {
  const auto session =
      std::make_shared<Session>(core::rank_state(),
                                begin.backend.info().make_met_agent(store, begin.worker.name(), begin.worker.id(),
                                                                    begin.world_size, begin.options),
                                begin.options);
  Closing closing(session);
  start(state, session);
  closing.keep();
}

void begin_session(SessionState& state, const Begin& begin) {
  const SessionHooks hooks = state.hooks();
  if (hooks.start_autograd) hooks.start_autograd();
  const auto store = std::make_shared<PrefixStore>("rpc", begin.store);
  store->set_timeout(timeout_of(begin.options));
  if (begin.backend.info().make_met_agent) return begin_met(state, begin, *store);
  agree_on_kind(*store, begin);
  // The secret also identifies the store, however it was opened.
  const std::string secret = store->compare_set("secret", "", base::random_hex(kSecretDigits), begin.site);
  begin.world_size > 0 ? begin_static(state, begin, store, secret) : begin_elastic(state, begin, store, secret);
}

void check_place(int rank, int world_size, base::Location site) {
  if (world_size == 0 || rank < world_size) return;
  throw value_error("init_rpc: rank " + std::to_string(rank) + " is not in the world of " + std::to_string(world_size),
                    site);
}

}  // namespace

void init_rpc(const InitOptions& init, base::Location site) {
  core::refuse_in_inline_function("begins a session", site);
  SessionState& state = session_state();
  state.refuse_if_inherited(site);
  const Backend backend = choose_backend(init);
  const std::shared_ptr<const RpcBackendOptions> options = options_for(backend, init.options);
  check_options(backend, *options, site);
  [[maybe_unused]] const WorkerInfo refuses_now(init.name, init.rank.value_or(0), site);
  if (init.world_size && *init.world_size < 1) throw value_error("init_rpc: world_size must be positive", site);
  // The rank that serves an address finds out from the address itself that it already serves.
  const bool is_served_there = options->store == nullptr && is_served(options->init_method);
  if (is_served_there && state.find() != nullptr) rendezvous_of(init, *options);
  const Starting starting(state);
  const stores::Rendezvous found = find_store(state, init, *options, site);
  const int world_size = init.world_size.value_or(0);
  check_place(found.rank, world_size, site);
  begin_session(state, {backend, found.store, WorkerInfo(init.name, found.rank, site), world_size,
                        is_served_there && found.rank == 0, *options, site});
}

void init_rpc_backend(const Backend& backend, std::shared_ptr<Store> store, const std::string& name, int rank,
                      int world_size, const RpcBackendOptions& options) {
  const base::Location site = base::Location::here();
  SessionState& state = session_state();
  check_options(backend, options, site);
  if (store == nullptr) throw value_error("init_rpc_backend: it needs a store", site);
  check_place(rank, world_size, site);
  const Starting starting(state);
  begin_session(
      state, {backend, std::move(store), WorkerInfo(name, rank, site), std::max(world_size, 0), false, options, site});
}

}  // namespace distrun::rpc
