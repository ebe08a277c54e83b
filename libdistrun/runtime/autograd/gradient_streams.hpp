#pragma once
// Gradients that cross streams of a GPU: which stream waits for which, and which one reads what.
#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::autograd {

// Returns whether the gradient's bytes may be changed on the current stream. Destroyed handles may have left reads of
// them on another stream, which only record_stream() has recorded.
bool has_no_other_stream(const Tensor& gradient);

// Orders the work on the current stream of the gradient's device before later work on `reader`.
void order_streams(const Tensor& gradient, Stream reader);

// Makes the current stream of the stream's device wait for the work on that stream.
void wait_for_stream(Stream written);

// Records that the gradient is read on the current stream of its device: its memory is not reused before that is done.
// Undefined ones are ignored.
void record_reader(const Tensor& gradient);

}  // namespace distrun::autograd
