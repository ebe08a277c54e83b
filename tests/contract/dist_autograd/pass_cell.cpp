#include "pass_cell.hpp"

#include <atomic>
#include <csignal>
#include <limits>
#include <set>

#include <distrun/common/base/error.hpp>
#include <distrun/dist_autograd.hpp>
#include <distrun/runtime/store/file_store.hpp>

#include "../rpc/struck_agent.hpp"

namespace distrun::dist_autograd::testing {
namespace {

using rpc::testing::kPatience;

constexpr int kRounds = 60;
constexpr int kErrorsMax = 3;  // after this many errors the rank stops

double seconds(base::Nanoseconds duration) { return std::chrono::duration<double>(duration).count(); }

// Computes the product; each worker along the way contributes a factor.
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

// a^(depth + 1) b, with known gradients.
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

// Strikes at the given step of its agent; if everything is over before, at the end.
void PassCell::be_victim(const Post& post) const {
  // Created before the threads that read it, and never destroyed.
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
  rpc::testing::Company company(kPassRanks, victim, [this](int rank, const Post& post) {
    rank == victim ? be_victim(post) : be_survivor(rank, post);
  });
  if (company.meet("at work", true) && company.meet("at end of work") && company.meet("at again")) company.hear_out();
  return company.told();
}

}  // namespace distrun::dist_autograd::testing
