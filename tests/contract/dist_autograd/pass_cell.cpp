#include "pass_cell.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <limits>
#include <memory>
#include <set>

#include <distrun/common/base/error.hpp>
#include <distrun/dist_autograd.hpp>
#include <distrun/runtime/store/file_store.hpp>

#include "../rpc/struck_agent.hpp"

namespace distrun::dist_autograd::testing {
namespace {

using rpc::testing::kPatience;
using rpc::testing::Member;

constexpr int kRounds = 60;
constexpr int kErrorsMax = 3;  // so many, and the rank has done enough

double seconds(base::Nanoseconds duration) { return std::chrono::duration<double>(duration).count(); }

// The product, of which each worker on the way makes a part.
Tensor pass_product(const Tensor& a, const Tensor& b, std::int64_t worker, std::int64_t ranks, std::int64_t depth) {
  if (depth == 0) return mul(a, b);
  const auto next = static_cast<int>((worker + 1) % ranks);
  return mul(rpc_sync(next, pass_product, a, b, std::int64_t{next}, ranks, depth - 1), a);
}
DISTRUN_RPC(pass_product)

void leave() { rpc::shutdown({.graceful = false}); }

}  // namespace

void PassCell::init(int rank, const std::string& part, int number, int ranks) const {
  auto options = std::make_shared<rpc::PipeOptions>();
  options->transports = {"shm"};
  options->init_timeout = seconds(kPatience);
  options->rpc_timeout = seconds(kPatience);
  options->store = std::make_shared<PrefixStore>(part, std::make_shared<FileStore>(folder + "/store"));
  rpc::init_rpc({"worker" + std::to_string(rank), rpc::testing::struck_backend(), number, ranks, options});
}

// a^(depth + 1) b: its gradients are known.
void PassCell::pass(int number, int round, int ranks) const {
  const Tensor a = set_requires_grad(full({4}, 2)), b = set_requires_grad(full({4}, 3));
  const int depth = round % 3, to = (number + 1 + round % (ranks - 1)) % ranks;
  const ContextScope context;
  const Tensor product = rpc_sync(to, pass_product, a, b, std::int64_t{to}, std::int64_t{ranks}, std::int64_t{depth});
  backward(context.id(), {sum(product)}, {.retain_graph = false, .mode = round % 2 == 0 ? Mode::Smart : Mode::Fast});
  const GradientsOfLeaves gradients = get_gradients(context.id());
  const double power = depth == 0 ? 1 : depth == 1 ? 2 : 4;  // a^depth
  const auto differs = tensor::difference(gradients.at(a), full({4}, (depth + 1) * power * 3));
  if (differs) throw Error(ErrorKind::Failed, "the gradient is wrong: " + *differs);
}

// Wherever its agent is then; if all is over before, at its end.
void PassCell::be_victim(const Post& post) const {
  // Before there are threads that read it, and for longer than they live: this process has no other use for it.
  static auto& left = *new std::atomic<int>(std::numeric_limits<int>::max());
  rpc::testing::script().reach = [](rpc::testing::Step) {
    if (left.fetch_sub(1) == 0) ::raise(SIGKILL);
  };
  init(victim, "cell", victim, kPassRanks);
  post.meet("at work");
  left.store(struck_at);
  for (int round = 0; round < kRounds; ++round) {
    rpc::testing::what_comes_of([&] { pass(victim, round, kPassRanks); });
  }
  ::raise(SIGKILL);
}

void PassCell::be_survivor(int rank, const Post& post) const {
  init(rank, "cell", rank, kPassRanks);
  post.meet("at work");
  int errors = 0;
  for (int round = 0; round < 10 * kRounds && errors < kErrorsMax; ++round) {
    const std::string line = rpc::testing::timed("pass", [&] { pass(rank, round, kPassRanks); });
    const auto came = rpc::testing::timed_of(line);
    errors += came.text == "done" ? 0 : 1;
    if (came.text != "done" || came.seconds > 0.5) post.tell(line);
  }
  post.meet("at end of work");
  leave();
  post.meet("at again");
  const int number = rank < victim ? rank : rank - 1;
  post.tell(rpc::testing::timed("again", [&] {
    init(rank, "again", number, kPassRanks - 1);
    for (int round = 0; round < kRounds; ++round) pass(number, round, kPassRanks - 1);
    std::set<std::string> all;
    for (const rpc::WorkerInfo& each : rpc::get_worker_infos()) all.insert(each.name());
    rpc::barrier(all);
    if (debug_info().at("num_current_backward_passes") != "0") throw Error(ErrorKind::Failed, "a pass is left");
    rpc::shutdown({.graceful = true, .timeout = seconds(kPatience)});
  }));
}

Lines PassCell::conduct() const {
  Lines told;
  std::array<std::unique_ptr<Member>, kPassRanks> members;
  for (int rank = 0; rank < kPassRanks; ++rank) {
    members[static_cast<std::size_t>(rank)] = std::make_unique<Member>([this, rank](const Post& post) {
      if (rank == victim) return be_victim(post);
      const std::string came = rpc::testing::what_comes_of([&] { be_survivor(rank, post); });
      if (came != "done") post.tell("survivor|0|" + came);
    });
  }
  const auto meet = [&](const char* point, bool with_victim) {
    bool have_come = true;
    for (int rank = 0; rank < kPassRanks; ++rank) {
      Lines of_victim;
      if (rank == victim && !with_victim) continue;
      have_come &= members[static_cast<std::size_t>(rank)]->lines_up_to(point, std::to_string(rank) + "|",
                                                                        rank == victim ? of_victim : told);
    }
    if (!have_come) return told.push_back(std::string("0|nobody|0|not all have come ") + point), false;
    for (int rank = 0; rank < kPassRanks; ++rank) {
      if (rank != victim || with_victim) members[static_cast<std::size_t>(rank)]->go_on();
    }
    return true;
  };
  if (!meet("at work", true) || !meet("at end of work", false) || !meet("at again", false)) return told;
  for (int rank = 0; rank < kPassRanks; ++rank) {
    if (rank == victim) continue;
    members[static_cast<std::size_t>(rank)]->lines_up_to("the end", std::to_string(rank) + "|", told);
  }
  return told;
}

}  // namespace distrun::dist_autograd::testing
