// Workers that train parameters on rank 0, and a mistake: a cycle of references. README.md in this folder shows
// distrun's report. Run it with
//
//   distrun --world-size 4 parameter_server.so
#include <cstdio>
#include <mutex>
#include <set>

#include <distrun/rpc.hpp>
#include <distrun/tensors.hpp>
#include <distrun/test.hpp>

using namespace distrun;

namespace {

constexpr int kSteps = 200;
constexpr double kRate = 0.05;

// The parameters of a line: y = weight * x + bias.
class Parameters {
 public:
  Tensor fetch() const {
    const std::lock_guard lock(mutex_);
    return clone(values_);
  }
  void push(const Tensor& gradient) {
    const std::lock_guard lock(mutex_);
    values_ = sub(values_, mul(gradient, kRate));
  }

 private:
  mutable std::mutex mutex_;  // workers call on separate threads
  Tensor values_ = zeros({2});
};
const auto parameters = rpc::RegisterClass<Parameters>("Parameters")
                            .constructor<>()
                            .method("fetch", &Parameters::fetch)
                            .method("push", &Parameters::push, {"gradient"});

// Points of the line to be learned, different for each worker.
struct Points {
  Tensor x, y;
};
Points points_of(int worker) {
  manual_seed(static_cast<std::uint64_t>(worker));
  const Tensor x = randn({64});
  return {x, add(mul(x, 3.0), 1.0)};
}

struct Step {
  Tensor gradient;
  double loss = 0;
};
Step step(const Points& points, const Tensor& line) {
  const Tensor error = sub(add(mul(points.x, select(line, 0, 0)), select(line, 0, 1)), points.y);
  const Tensor by_weight = mean(mul(mul(error, points.x), 2.0));
  const Tensor by_bias = mean(mul(error, 2.0));
  return {stack({by_weight, by_bias}), mean(mul(error, error)).item().to<double>()};
}

// A worker's part. Rank 0 calls it with a reference to its parameters.
double train(const RRef<Parameters>& server, int worker) {
  const Points points = points_of(worker);
  double loss = 0;
  for (int i = 0; i < kSteps; ++i) {
    const Step made = step(points, server.rpc_sync(&Parameters::fetch));
    server.rpc_sync(&Parameters::push, made.gradient);
    loss = made.loss;
  }
  return loss;
}
DISTRUN_RPC(train)

// Holds a reference to another node, and is held by one.
struct Node {
  void point_to(const RRef<Node>& other) {
    const std::lock_guard lock(mutex);
    next = other;
  }
  void visit_references(const rpc::ReferenceVisitor& visit) const {
    const std::lock_guard lock(mutex);
    if (next) visit(next.reference());
  }
  mutable std::mutex mutex;
  RRef<Node> next;
};
const auto node = rpc::RegisterClass<Node>("Node").constructor<>().method("point_to", &Node::point_to, {"other"});

}  // namespace

DISTRUN_TEST(ParameterServer, trains) {
  init_rpc(rank);
  if (rank.rank() == 0) {
    const RRef<Parameters> server(std::make_shared<Parameters>());
    std::vector<Future<double>> workers;
    for (int worker = 1; worker < rank.world_size(); ++worker) {
      workers.push_back(rpc_async(worker, train, server, worker));
    }
    double loss = 0;
    for (const Future<double>& each : workers) loss = std::max(loss, each.wait());
    std::printf("loss %.6f with %s\n", loss, to_string(server.local_value()->fetch()).c_str());
    DISTRUN_EXPECT(loss < 1e-3);
  }
  rpc::shutdown();
}

DISTRUN_TEST(ParameterServer, lets_go_of_nodes) {
  init_rpc(rank);
  if (rank.rank() == 0) {
    const RRef<Node> first = remote<Node>("worker1", "Node");
    const RRef<Node> second = remote<Node>("worker2", "Node");
    first.rpc_sync(&Node::point_to, second);
    second.rpc_sync(&Node::point_to, first);  // the mistake
  }
  std::set<std::string> everybody;
  for (const WorkerInfo& each : rpc::get_worker_infos()) everybody.insert(each.name());
  rpc::barrier(everybody);
  DISTRUN_EXPECT(rref::leaks(2.0) == "");  // no worker uses the nodes any more, so they should be deleted
  rpc::shutdown();
}
