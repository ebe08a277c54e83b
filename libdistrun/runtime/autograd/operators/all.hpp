#pragma once
// All operators that users call. Each family has its own file; + - * / and the like are in symbols.hpp.
#include <distrun/runtime/autograd/operators/copies.hpp>
#include <distrun/runtime/autograd/operators/elementwise.hpp>
#include <distrun/runtime/autograd/operators/embedding.hpp>
#include <distrun/runtime/autograd/operators/extremes.hpp>
#include <distrun/runtime/autograd/operators/factories.hpp>
#include <distrun/runtime/autograd/operators/images.hpp>
#include <distrun/runtime/autograd/operators/indexing.hpp>
#include <distrun/runtime/autograd/operators/joining.hpp>
#include <distrun/runtime/autograd/operators/losses.hpp>
#include <distrun/runtime/autograd/operators/normalization.hpp>
#include <distrun/runtime/autograd/operators/products.hpp>
#include <distrun/runtime/autograd/operators/reduce.hpp>
#include <distrun/runtime/autograd/operators/sparse.hpp>
#include <distrun/runtime/autograd/operators/statistics.hpp>
#include <distrun/runtime/autograd/operators/symbols.hpp>
#include <distrun/runtime/autograd/operators/views.hpp>
