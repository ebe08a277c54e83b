#pragma once
// Tensors, operators that record how to differentiate them, and what small networks need, for plugins that are linked
// with the runtime (distrun_add_plugin(NAME RUNTIME ...)):
//
//   #include <distrun/tensors.hpp>
//   #include <distrun/test.hpp>
//
//   DISTRUN_TEST(Gradient, of_a_sum) {
//     const distrun::Tensor w = distrun::set_requires_grad(distrun::ones({2, 3}));
//     distrun::backward(distrun::sum(w));
//     DISTRUN_EXPECT(!distrun::tensor::difference(distrun::grad(w), distrun::ones({2, 3})));
//   }
//
// Devices and streams are those of runtime/device: CPU, virtual GPUs, CUDA.
#ifdef DISTRUN_PLUGIN_WITHOUT_RUNTIME
#error "<distrun/tensors.hpp> needs libdistrun.so: write distrun_add_plugin(NAME RUNTIME ...)"
#endif
#include <distrun/runtime/autograd/anomaly.hpp>
#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/function.hpp>
#include <distrun/runtime/autograd/grad_mode.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/device/gpu.hpp>
#include <distrun/runtime/device/memory/allocator.hpp>
#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/nn/adagrad.hpp>
#include <distrun/runtime/nn/adam.hpp>
#include <distrun/runtime/nn/batch_norm.hpp>
#include <distrun/runtime/nn/checkpoint.hpp>
#include <distrun/runtime/nn/layer_norm.hpp>
#include <distrun/runtime/nn/layers.hpp>
#include <distrun/runtime/nn/losses.hpp>
#include <distrun/runtime/nn/sgd.hpp>
#include <distrun/runtime/tensor/closeness.hpp>
#include <distrun/runtime/tensor/core/parallel.hpp>
#include <distrun/runtime/tensor/io/safetensors.hpp>
#include <distrun/runtime/tensor/ops.hpp>
#include <distrun/runtime/tensor/print.hpp>
