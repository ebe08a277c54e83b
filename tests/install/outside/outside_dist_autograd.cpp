#include <distrun/dist_autograd.hpp>
#include <distrun/test.hpp>

DISTRUN_TEST(OutsideDistAutograd, of_a_call, .world_size = fixed(2), .timeout = 10s) {
  distrun::init_rpc(rank);
  const distrun::Tensor a = distrun::set_requires_grad(distrun::ones({3}));
  {
    const distrun::dist_autograd::ContextScope context;
    const auto twice = distrun::rpc_sync<distrun::Tensor>(1 - rank.rank(), "mul", a, 2);
    distrun::dist_autograd::backward(context.id(), {distrun::sum(twice)});
    DISTRUN_EXPECT(distrun::equal(distrun::dist_autograd::get_gradients(context.id()).at(a), distrun::full({3}, 2)));
  }
  distrun::rpc::shutdown();
}
