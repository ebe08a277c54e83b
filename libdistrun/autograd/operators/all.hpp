#pragma once
// All operators that users call. Each family has a file of its own; operators + - * / are in elementwise.hpp.
#include <distrun/autograd/operators/copies.hpp>
#include <distrun/autograd/operators/elementwise.hpp>
#include <distrun/autograd/operators/embedding.hpp>
#include <distrun/autograd/operators/factories.hpp>
#include <distrun/autograd/operators/images.hpp>
#include <distrun/autograd/operators/joining.hpp>
#include <distrun/autograd/operators/products.hpp>
#include <distrun/autograd/operators/reduce.hpp>
#include <distrun/autograd/operators/sparse.hpp>
#include <distrun/autograd/operators/views.hpp>
