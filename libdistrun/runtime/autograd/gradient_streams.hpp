#pragma once
// Gradients that cross streams of a GPU: who waits for whom, and who reads what.
#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::autograd {

// Returns whether the gradient's bytes may be changed on the current stream. A handle that is gone may have left reads
// of them on another stream, of which only record_stream() tells.
bool has_no_other_stream(const Tensor& gradient);

// Puts what is on the current stream of the gradient's device before what comes onto `reader` later.
void order_streams(const Tensor& gradient, Stream reader);

// Lets the current stream of the stream's device wait for what is on that stream now.
void wait_for_stream(Stream written);

// Records that the gradient is read on the current stream of its device: its memory is not reused before that is done.
// Undefined ones are ignored.
void record_reader(const Tensor& gradient);

}  // namespace distrun::autograd
