// Two agents of RPC without calls: over each transport.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <distrun/runtime/future/handler_pool.hpp>
#include <distrun/runtime/rpc/agent.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

#include "support/process.hpp"
#include "unit/failing_steps/attempt.hpp"
#include "unit/failing_steps/workers.hpp"

namespace distrun {
namespace {

using namespace testing;
using namespace std::chrono_literals;

constexpr std::size_t kPayload = 100'000;  // more than is taken at once, less than a ring

bool comes_soon(const std::function<bool()>& question) { return eventually(10s, question); }

// Takes no memory.
class Counts final : public rpc::Receiver {
 public:
  std::unique_ptr<future::HandlerTask> receive(const rpc::WorkerInfo&, rpc::Message message) noexcept override {
    if (message.kind == rpc::MessageKind::Cancel) return nullptr;
    if (message.id <= last_ || !is_whole(message)) is_wrong_ = true;
    last_ = message.id;
    ++received_;
    while (is_held_) is_held_.wait(true);
    if (!message.unreadable.empty()) ++unreadable_;
    return nullptr;
  }
  void lose(const rpc::WorkerInfo&, const base::Error&) noexcept override { ++lost_; }

  // Makes messages wait at the end of receive() until let_go().
  void hold() noexcept { is_held_ = true; }
  void let_go() noexcept {
    is_held_ = false;
    is_held_.notify_all();
  }

  int received() const noexcept { return received_; }
  int unreadable() const noexcept { return unreadable_; }
  int lost() const noexcept { return lost_; }
  bool is_wrong() const noexcept { return is_wrong_; }

 private:
  static bool is_whole(const rpc::Message& message) noexcept {
    if (!message.unreadable.empty()) return true;
    return message.payload.size() == kPayload && std::ranges::all_of(message.tensors, [](const Tensor& each) {
             const std::span<const float> all(each.data_as<float>(), static_cast<std::size_t>(each.numel()));
             return std::ranges::count(all, 1.0F) == std::ssize(all);
           });
  }

  std::atomic<std::uint64_t> last_{0};
  std::atomic<int> received_{0}, unreadable_{0}, lost_{0};
  std::atomic<bool> is_wrong_{false}, is_held_{false};
};

// An agent of a rank, with what it receives.
struct Node {
  Node(const rpc::Backend& backend, core::RankState& rank, int id) {
    core::ThreadState state;
    state.rank = &rank;
    const core::ThreadStateGuard guard(std::move(state));
    rpc::AgentSetting setting{rpc::WorkerInfo("worker" + std::to_string(id), id), 2, "secret", 10s};
    agent = backend.info().make_agent(setting, rpc::PipeOptions());
  }
  ~Node() { agent->close(1s); }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  rpc::WorkerRecord record() const { return {agent->worker_info(), agent->address()}; }

  Counts counts;
  std::shared_ptr<rpc::Agent> agent;
};

core::RankState& rank_number(int id) {
  static auto* const states = new std::array<core::RankState, 2>;
  return (*states)[static_cast<std::size_t>(id)];
}

// Two that know each other.
struct Pair {
  explicit Pair(const rpc::Backend& backend) : first(backend, rank_number(0), 0), second(backend, rank_number(1), 1) {
    first.agent->add_worker(second.record());
    second.agent->add_worker(first.record());
    first.agent->start(first.counts);
    second.agent->start(second.counts);
  }
  Node first, second;
};

rpc::Message message_of(std::uint64_t id) {
  rpc::Message message;
  message.id = id;
  message.payload.resize(kPayload);
  message.tensors.push_back(tensor::full({40'000}, 1.0));
  return message;
}

// Returns whether the process has a thread with that name.
bool has_thread(const std::string& wanted) {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name == wanted) return true;
  }
  return false;
}

void require_sent(Node& from, Node& to, std::uint64_t id) {
  const int before = to.counts.received();
  try {
    from.agent->send(to.agent->worker_info().key(), message_of(id), rpc::Urgency::Later);
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::Disconnected, "only a worker that is lost can't be sent to");
    // The other one too, if they were connected.
    require(comes_soon([&] { return from.counts.lost() == 1; }), "the loss is reported");
    return;
  }
  require(comes_soon([&] { return to.counts.received() > before || from.counts.lost() == 1; }),
          "another message comes");
}

void send_all(const char* agent, bool is_first) {
  every_step_may_fail([agent, is_first](Attempt& attempt) {
    Pair pair(backend_for(agent));
    if (!is_first) require_sent(pair.first, pair.second, 1);
    int sent = is_first ? 0 : 1;
    attempt.may_fail([&] {
      for (std::uint64_t id = 2; id < 5; ++id) {
        pair.first.agent->send(1, message_of(id), rpc::Urgency::Later);
        ++sent;
      }
      comes_soon([&] { return pair.second.counts.received() == sent || pair.first.counts.lost() != 0; });
    });
    const auto has_come = [&] { return pair.second.counts.received() == sent || pair.first.counts.lost() == 1; };
    require(comes_soon(has_come), "what was sent comes, or the worker is lost");
    require_sent(pair.first, pair.second, 5);
    require_sent(pair.second, pair.first, 1);
    require(!pair.first.counts.is_wrong() && !pair.second.counts.is_wrong(), "messages are whole, and in order");
  });
}

TEST_CASE("messages within the process come or are refused") { send_all("inproc", false); }
TEST_CASE("the first messages within the process come or are refused") { send_all("inproc", true); }
TEST_CASE("messages through shared memory come or are refused") { send_all("shm", false); }
TEST_CASE("the first messages through shared memory come or are refused") { send_all("shm", true); }
TEST_CASE("messages through a socket come or are refused") { send_all("uds", false); }
TEST_CASE("the first messages through a socket come or are refused") { send_all("uds", true); }

// The second message does not fit behind the first one, which its receiver holds, so it is half sent when it is
// cancelled.
void cancel_half_sent(const char* agent) {
  every_step_may_fail([agent](Attempt& attempt) {
    Pair pair(backend_for(agent));
    pair.second.counts.hold();
    require_sent(pair.first, pair.second, 1);
    rpc::Message call = message_of(2);
    call.tensors.clear();
    for (int i = 0; i < 20; ++i) call.tensors.push_back(tensor::full({10'000}, 1.0));  // too small to be read directly
    const TensorList sent = call.tensors;
    pair.first.agent->send(1, std::move(call), rpc::Urgency::Later);
    rpc::Message cancel;
    cancel.kind = rpc::MessageKind::Cancel;
    cancel.id = 2;
    attempt.may_fail([&] { pair.first.agent->send(1, std::move(cancel), rpc::Urgency::Later); });
    for (const Tensor& each : sent) std::fill_n(each.data_as<float>(), each.numel(), 2.0F);
    pair.second.counts.let_go();
    const auto has_come = [&] { return pair.second.counts.received() == 2; };
    const auto are_lost = [&] { return pair.first.counts.lost() == 1 && pair.second.counts.lost() == 1; };
    require(comes_soon([&] { return has_come() || are_lost(); }), "the call comes, or both lose each other");
    require_sent(pair.first, pair.second, 3);
    require(!pair.second.counts.is_wrong(), "a call that has timed out is not changed afterwards");
  });
}

TEST_CASE("a half-sent call that is cancelled comes unchanged through shared memory, or is lost") {
  cancel_half_sent("shm");
}
TEST_CASE("a half-sent call that is cancelled comes unchanged through a socket, or is lost") {
  cancel_half_sent("uds");
}

void close_all(const char* agent) {
  every_step_may_fail([agent](Attempt& attempt) {
    {
      Pair pair(backend_for(agent));
      require_sent(pair.first, pair.second, 1);
      const std::string reason = "a reason that is longer than a string within itself";
      attempt.may_fail([&] {
        pair.first.agent->set_end(reason, 0);
        pair.first.agent->close(1s);
        comes_soon([&] { return pair.second.counts.lost() != 0; });
      });
      require(comes_soon([&] { return pair.second.counts.lost() == 1; }), "the loss is reported");
    }
    require(comes_soon([] { return !has_thread("distrun-rpc-io"); }), "no thread is left");
  });
}

TEST_CASE("an agent within the process closes, whichever step fails") { close_all("inproc"); }
TEST_CASE("an agent with shared memory closes, whichever step fails") { close_all("shm"); }
TEST_CASE("an agent with sockets closes, whichever step fails") { close_all("uds"); }

void make_all(const char* agent) {
  every_step_may_fail([agent](Attempt& attempt) {
    const rpc::Backend backend = backend_for(agent);
    attempt.may_fail([&] { const Pair pair(backend); });
    require(comes_soon([] { return !has_thread("distrun-rpc-io"); }), "no thread is left");
    Pair pair(backend);
    require_sent(pair.first, pair.second, 1);
  });
}

TEST_CASE("an agent within the process is made, or it is said why not") { make_all("inproc"); }
TEST_CASE("an agent with shared memory is made, or it is said why not") { make_all("shm"); }
TEST_CASE("an agent with sockets is made, or it is said why not") { make_all("uds"); }

}  // namespace
}  // namespace distrun
