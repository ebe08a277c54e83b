#pragma once
// What is wrong with the arguments of a collective: Error{InvalidArgument, "ValueError"}, with the words that people
// know from ProcessGroupGloo behind the name of the collective: "broadcast: invalid root rank: 7".
#include <vector>

#include <distrun/runtime/collectives/call.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::collectives {

// For one call of a group.
class Checks {
 public:
  Checks(const GroupInfo& group, CallKind kind, base::Location site) noexcept
      : group_(group), kind_(kind), site_(site) {}

  void root(int place) const;
  void peer(int place) const;
  void dense(const Tensor& tensor) const;
  // One for each rank, of that dtype and so many elements.
  void one_for_each(const char* what, const TensorList& list, const Tensor& like) const;
  void same_dtype(const Tensor& tensor, DType dtype, std::size_t index) const;
  void elements(const Tensor& tensor, std::int64_t count, std::size_t index) const;
  void reduction(ReduceOp op, DType dtype) const { check_reduction(name_of(kind_), op, dtype, site_); }
  // Pieces along the first dimension: sizes that add up to it, one for each rank; none: equal ones.
  std::vector<std::int64_t> splits(const char* what, const Tensor& tensor, std::vector<std::int64_t> sizes) const;
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  const GroupInfo& group_;
  const CallKind kind_;
  const base::Location site_;
};

}  // namespace distrun::collectives
