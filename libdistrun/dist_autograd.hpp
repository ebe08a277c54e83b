#pragma once
// Gradients of computations on several workers, for plugins that are linked with the runtime:
//
//   #include <distrun/dist_autograd.hpp>
//   #include <distrun/test.hpp>
//
//   DISTRUN_TEST(DistAutograd, of_a_call) {
//     distrun::init_rpc(rank);
//     const distrun::Tensor a = distrun::set_requires_grad(distrun::ones({3}));
//     const distrun::dist_autograd::ContextScope context;
//     const int neighbour = (rank.rank() + 1) % rank.world_size();
//     const auto twice = distrun::rpc_sync<distrun::Tensor>(neighbour, "mul", a, 2);
//     distrun::dist_autograd::backward(context.id(), {distrun::sum(twice)});
//     DISTRUN_EXPECT(distrun::equal(distrun::dist_autograd::get_gradients(context.id()).at(a), distrun::full({3}, 2)));
//   }
#ifdef DISTRUN_PLUGIN_WITHOUT_RUNTIME
#error "<distrun/dist_autograd.hpp> needs libdistrun.so: write distrun_add_plugin(NAME RUNTIME ...)"
#endif
#include <distrun/rpc.hpp>
#include <distrun/runtime/dist_autograd/backward.hpp>
#include <distrun/runtime/dist_autograd/debug_info.hpp>
#include <distrun/runtime/dist_autograd/optimizer.hpp>
#include <distrun/runtime/dist_autograd/remote_module.hpp>
#include <distrun/runtime/dist_autograd/scope.hpp>
#include <distrun/tensors.hpp>
