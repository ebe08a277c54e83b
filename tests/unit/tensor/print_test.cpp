#include <catch2/catch.hpp>

#include <cmath>
#include <sstream>

#include <distrun/runtime/tensor/ops.hpp>
#include <distrun/runtime/tensor/print.hpp>

namespace distrun::tensor {

TEST_CASE("whole numbers have a point, others four digits after it") {
  CHECK(to_string(view(from_values<float>({1, 2, 3, 4}), {2, 2})) == "tensor([[1., 2.],\n        [3., 4.]])");
  CHECK(to_string(from_values<float>({0.5F, 10, -1})) == "tensor([ 0.5000, 10.0000, -1.0000])");
  CHECK(to_string(zeros({2})) == "tensor([0., 0.])");
  CHECK(to_string(full({}, 3.5)) == "tensor(3.5000)");
  CHECK(to_string(from_values<float>({1, std::nanf(""), -INFINITY})) == "tensor([1., nan, -inf])");
}

TEST_CASE("numbers of very different size have an exponent") {
  CHECK(to_string(from_values<float>({1e-5F, 1})) == "tensor([1.0000e-05, 1.0000e+00])");
  CHECK(to_string(from_values<float>({1, 2000})) == "tensor([1.0000e+00, 2.0000e+03])");
  CHECK(to_string(from_values<double>({1e10}), {}) == "tensor([1.0000e+10], dtype=float64)");
}

TEST_CASE("integers and bool are aligned in columns") {
  CHECK(to_string(from_values<std::int64_t>({1, -20, 300})) == "tensor([  1, -20, 300])");
  CHECK(to_string(from_values<bool>({true, false})) == "tensor([ true, false])");
  CHECK(to_string(from_values<std::int16_t>({7})) == "tensor([7], dtype=int16)");
  CHECK(to_string(from_values<std::uint8_t>({200})) == "tensor([200], dtype=uint8)");
}

TEST_CASE("tensors without elements show their sizes") {
  CHECK(to_string(zeros({0})) == "tensor([])");
  CHECK(to_string(zeros({0, 3})) == "tensor([], size=(0, 3))");
  CHECK(to_string(zeros({2, 0}, {DType::I64})) == "tensor([], size=(2, 0), dtype=int64)");
  CHECK(to_string(Tensor()) == "tensor(undefined)");
}

TEST_CASE("blocks of more dimensions are separated by empty lines") {
  CHECK(to_string(view(arange(8), {2, 2, 2})) ==
        "tensor([[[0, 1],\n         [2, 3]],\n\n        [[4, 5],\n         [6, 7]]])");
}

TEST_CASE("long lines are broken, and more than a thousand elements are shortened") {
  CHECK(to_string(arange(30)) ==
        "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
        "        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])");
  CHECK(to_string(arange(1001)) == "tensor([   0,    1,    2,  ...,  998,  999, 1000])");
  CHECK(to_string(view(arange(2000), {500, 4})) ==
        "tensor([[   0,    1,    2,    3],\n        [   4,    5,    6,    7],\n        [   8,    9,   10,   11],\n"
        "        ...,\n        [1988, 1989, 1990, 1991],\n        [1992, 1993, 1994, 1995],\n"
        "        [1996, 1997, 1998, 1999]])");
}

TEST_CASE("views print their elements") {
  CHECK(to_string(t(view(arange(4), {2, 2}))) == "tensor([[0, 2],\n        [1, 3]])");
  std::ostringstream out;
  out << select(arange(3), 0, 2);
  CHECK(out.str() == "tensor(2)");
}

TEST_CASE("suffixes go to a new line where the old one is full") {
  CHECK(to_string(ones({2}), {"requires_grad=true"}) == "tensor([1., 1.], requires_grad=true)");
  CHECK(to_string(ones({17}), {"grad_fn=<AddBackward0>"}) ==
        "tensor([1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1.],\n       grad_fn=<AddBackward0>)");
}

TEST_CASE("sparse tensors print their parts") {
  const Tensor s =
      sparse_coo(from_values<std::int64_t>({0, 1, 1, 2, 0, 2}, {2, 3}), from_values<float>({3, 4, 5}), {2, 3});
  CHECK(to_string(s) ==
        "tensor(indices=tensor([[0, 1, 1],\n                       [2, 0, 2]]),\n"
        "       values=tensor([3., 4., 5.]),\n       size=(2, 3), nnz=3, layout=sparse_coo)");
  CHECK(to_string(empty_sparse({5}, {DType::I64}, 1)) ==
        "tensor(indices=tensor([], size=(1, 0)),\n       values=tensor([], size=(0,)),\n"
        "       size=(5,), nnz=0, layout=sparse_coo)");
}

}  // namespace distrun::tensor
