#pragma once
// All plain operators: they compute and record nothing. Each family has a file of its own.
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/reshape.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/operators/convolution.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>
#include <distrun/runtime/tensor/operators/embedding.hpp>
#include <distrun/runtime/tensor/operators/joining.hpp>
#include <distrun/runtime/tensor/operators/matmul.hpp>
#include <distrun/runtime/tensor/operators/nonzero.hpp>
#include <distrun/runtime/tensor/operators/normalization.hpp>
#include <distrun/runtime/tensor/operators/pooling.hpp>
#include <distrun/runtime/tensor/operators/random.hpp>
#include <distrun/runtime/tensor/operators/reduce.hpp>
#include <distrun/runtime/tensor/operators/unrecorded.hpp>
#include <distrun/runtime/tensor/sparse/sparse.hpp>
