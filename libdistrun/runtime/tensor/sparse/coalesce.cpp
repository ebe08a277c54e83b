#include <distrun/runtime/tensor/sparse/coalesce.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/sparse_parts.hpp>
#include <distrun/runtime/tensor/operators/rows.hpp>
#include <distrun/runtime/tensor/sparse/sparse_entries.hpp>

namespace distrun::tensor::plain {
namespace {

// Groups entries by place.
struct Groups {
  std::vector<std::int64_t> places;   // of each group, ascending
  std::vector<std::int64_t> members;  // the group of each entry
};

// Takes time proportional to the number of all places.
Groups grouped_by_counting(const std::vector<std::int64_t>& entries, std::int64_t all_places) {
  Groups groups;
  std::vector<std::int64_t> group_of(static_cast<std::size_t>(all_places), -1);
  for (const std::int64_t place : entries) group_of[static_cast<std::size_t>(place)] = 0;
  for (std::int64_t place = 0; place < all_places; ++place) {
    std::int64_t& group = group_of[static_cast<std::size_t>(place)];
    if (group < 0) continue;
    group = static_cast<std::int64_t>(groups.places.size());
    groups.places.push_back(place);
  }
  for (const std::int64_t place : entries) groups.members.push_back(group_of[static_cast<std::size_t>(place)]);
  return groups;
}

Groups grouped_by_sorting(const std::vector<std::int64_t>& entries) {
  std::vector<std::pair<std::int64_t, std::size_t>> sorted;  // place and number of each entry
  for (const std::int64_t place : entries) sorted.emplace_back(place, sorted.size());
  std::sort(sorted.begin(), sorted.end());
  Groups groups{{}, std::vector<std::int64_t>(entries.size())};
  for (const auto& [place, entry] : sorted) {
    if (groups.places.empty() || groups.places.back() != place) groups.places.push_back(place);
    groups.members[entry] = static_cast<std::int64_t>(groups.places.size()) - 1;
  }
  return groups;
}

// `entries` are the places of the entries, out of `all_places`.
Groups grouped(const std::vector<std::int64_t>& entries, std::int64_t all_places) {
  constexpr std::int64_t kPlacesForEntry = 8;  // up to this ratio counting is faster
  const bool are_dense = all_places / kPlacesForEntry <= static_cast<std::int64_t>(entries.size());
  return are_dense ? grouped_by_counting(entries, all_places) : grouped_by_sorting(entries);
}

}  // namespace

Tensor coalesce(const Tensor& tensor) {
  const SparseParts& parts = sparse(tensor);
  if (parts.coalesced) return tensor;
  const Groups groups = grouped(places_of(tensor), device::count_of(sparse_sizes(tensor)));
  Dims sizes = parts.values.sizes();
  sizes[0] = static_cast<std::int64_t>(groups.places.size());
  const Tensor values = zeros(sizes, parts.values.options());
  add_rows_(values, on_device(groups.members, tensor.device()), parts.values);
  return sparse_coo_unchecked(indices_of(groups.places, sparse_sizes(tensor), tensor.device()), values, tensor.sizes(),
                              true);
}

}  // namespace distrun::tensor::plain
