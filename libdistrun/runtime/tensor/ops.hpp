#pragma once
// All plain operators: they compute and record nothing. Each family has a file of its own.
#include <distrun/runtime/tensor/convolution.hpp>
#include <distrun/runtime/tensor/copy.hpp>
#include <distrun/runtime/tensor/elementwise.hpp>
#include <distrun/runtime/tensor/embedding.hpp>
#include <distrun/runtime/tensor/factories.hpp>
#include <distrun/runtime/tensor/joining.hpp>
#include <distrun/runtime/tensor/matmul.hpp>
#include <distrun/runtime/tensor/nonzero.hpp>
#include <distrun/runtime/tensor/pooling.hpp>
#include <distrun/runtime/tensor/random.hpp>
#include <distrun/runtime/tensor/reduce.hpp>
#include <distrun/runtime/tensor/sparse.hpp>
#include <distrun/runtime/tensor/views.hpp>
