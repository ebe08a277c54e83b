#pragma once
// All plain operators: they compute and record nothing. Each family has a file of its own.
#include <distrun/tensor/convolution.hpp>
#include <distrun/tensor/copy.hpp>
#include <distrun/tensor/elementwise.hpp>
#include <distrun/tensor/embedding.hpp>
#include <distrun/tensor/factories.hpp>
#include <distrun/tensor/joining.hpp>
#include <distrun/tensor/matmul.hpp>
#include <distrun/tensor/nonzero.hpp>
#include <distrun/tensor/pooling.hpp>
#include <distrun/tensor/random.hpp>
#include <distrun/tensor/reduce.hpp>
#include <distrun/tensor/sparse.hpp>
#include <distrun/tensor/views.hpp>
