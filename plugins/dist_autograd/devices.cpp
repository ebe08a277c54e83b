// Graphs across a GPU of this worker and other workers. Callees get CPU tensors.
#include "scenarios.hpp"
#include "suites_more.hpp"

using namespace distrun;
using namespace distrun::suites;
using dist_autograd::ContextScope;

DISTRUN_SUITE(CudaDistAutogradTest, .world_size = fixed(4), .devices = 1);

namespace {

constexpr int kIterations = 3;

Tensor on_gpu(const Tensor& tensor) { return to(tensor, device::cuda(0)); }
Tensor random_on_gpu(const Dims& sizes) { return rand(sizes, {.device = device::cuda(0)}); }

// A leaf on the GPU, and one on the CPU.
struct Leaves {
  const Tensor t1 = set_requires_grad(random_on_gpu({3, 3}));
  const Tensor t2 = set_requires_grad(rand({3, 3}));
};

// A chain from the CPU to the GPU and back, twice; the last tensor is on the GPU, `t5` on the CPU.
struct Chain {
  Tensor t5, t6;
};
Chain chain_of(Exec& exec, const Leaves& leaves) {
  const Tensor t3 = exec("add", leaves.t2, leaves.t2);
  const Tensor t4 = on_gpu(t3) + leaves.t1;
  const Tensor t5 = exec("add", cpu(t4), leaves.t2);
  return {t5, on_gpu(t5) + t4};
}

// Clears the gradients of the previous pass first.
template <class MakeRoot>
void verify_again_and_again(const Rank& rank, const MakeRoot& make_root) {
  const Leaves leaves;
  Exec exec(rank);
  for (int i = 0; i < kIterations; ++i) {
    set_grad(leaves.t1, {});
    set_grad(leaves.t2, {});
    for (const ExecMode mode : {ExecMode::Local, ExecMode::RpcSync}) {
      exec.use(mode);
      const ContextScope context;
      verify_pass(mode, context.id(), {make_root(exec, leaves)}, {leaves.t1, leaves.t2});
      if (mode == ExecMode::Local) continue;
      const Tensor of_gpu = dist_autograd::get_gradients(context.id()).at(leaves.t1);
      DISTRUN_EXPECT((of_gpu.device() == device::cuda(0)));
    }
  }
}

}  // namespace

DISTRUN_TEST_F(CudaDistAutogradTest, gpu_simple) {
  const Tensor t1 = set_requires_grad(random_on_gpu({3, 3})), t2 = set_requires_grad(random_on_gpu({3, 3}));
  backward(sum(t1 + t2));
  const ContextScope context;
  dist_autograd::backward(context.id(), {sum(t1 + t2)});
  const auto gradients = dist_autograd::get_gradients(context.id());
  DISTRUN_EXPECT(gradients.size() == 2u);
  for (const Tensor& each : {t1, t2}) {
    DISTRUN_EXPECT((gradients.at(each).device() == device::cuda(0)));
    DISTRUN_EXPECT(what_differs(gradients.at(each), grad(each)) == "");
  }
}

DISTRUN_TEST_F(CudaDistAutogradTest, gpu_to_cpu_continuation) {
  verify_again_and_again(rank, [](Exec& exec, const Leaves& leaves) {
    const auto [t5, t6] = chain_of(exec, leaves);
    const Tensor root = sum(exec("add", cpu(t6), t5));
    DISTRUN_EXPECT(root.device().is_cpu());
    return root;
  });
}

DISTRUN_TEST_F(CudaDistAutogradTest, gpu_to_cpu_continuation_gpu_root) {
  verify_again_and_again(rank, [](Exec& exec, const Leaves& leaves) {
    const Tensor root = sum(chain_of(exec, leaves).t6);
    DISTRUN_EXPECT((root.device() == device::cuda(0)));
    return root;
  });
}
