#pragma once
// Checks the arguments of a collective. Throws Error{InvalidArgument, "ValueError"} with the texts of ProcessGroupGloo
// after the name of the collective: "broadcast: invalid root rank: 7".
#include <span>
#include <vector>

#include <distrun/runtime/collectives/call.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::collectives {

// Checks one call of a group.
class Checks {
 public:
  Checks(const GroupInfo& group, CallKind kind, base::Location site) noexcept
      : group_(group), kind_(kind), site_(site) {}

  // The memory of an output or input.
  struct Extent {
    const std::byte* begin;
    const std::byte* end;
    std::size_t index;
    bool is_output;
    bool is_own;           // belongs to this rank
    const Tensor* tensor;  // null: contiguous
  };

  void root(int place) const;
  void peer(int place) const;
  void dense(const Tensor& tensor) const;
  // Requires a dense tensor without several elements in the same place, as an expanded tensor has.
  void output(const Tensor& tensor) const;
  // Requires one tensor for each rank, with the dtype and number of elements of `like`.
  void one_for_each(const char* what, const TensorList& list, const Tensor& like) const;
  void same_dtype(const Tensor& tensor, DType dtype, std::size_t index) const;
  void elements(const Tensor& tensor, std::int64_t count, std::size_t index) const;
  // Refuses outputs that share memory with each other or with an input, since their values would be random, and those
  // that output() refuses. This rank's output may be its own input. Compares the bytes of the elements: two columns
  // of a matrix share none.
  void apart(std::span<const Tensor> outputs, std::span<const Tensor> inputs) const;
  // Does the same for an output that has one piece for each rank, of the input's size.
  void apart_or_own_piece(const Tensor& output, const Tensor& input) const;
  void reduction(ReduceOp op, DType dtype) const { check_reduction(name_of(kind_), op, dtype, site_); }
  // Returns the sizes of the pieces along the first dimension, one for each rank; they must add up to it. Empty `sizes`
  // means equal pieces.
  std::vector<std::int64_t> splits(const char* what, const Tensor& tensor, std::vector<std::int64_t> sizes) const;
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  void apart(std::span<Extent> all) const;
  void apart_exactly(std::span<const Extent> all) const;
  void check_pair(const Extent& a, const Extent& b) const;

  const GroupInfo& group_;
  const CallKind kind_;
  const base::Location site_;
};

}  // namespace distrun::collectives
