#include <distrun/runtime/collectives/objects.hpp>

#include <algorithm>
#include <cstring>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/views.hpp>

namespace distrun::collectives {
namespace {

// Rounded up to `size`.
Tensor tensor_of(const wire::Bytes& bytes, std::int64_t size) {
  const Tensor tensor = tensor::zeros({size}, {DType::U8});
  if (!bytes.empty()) std::memcpy(tensor.data(), bytes.data(), bytes.size());
  return tensor;
}

wire::Bytes bytes_of(const Tensor& tensor, std::int64_t offset, std::int64_t size) {
  const auto* const begin = reinterpret_cast<const wire::Bytes::value_type*>(tensor.data()) + offset;
  return {begin, begin + size};
}

std::vector<std::int64_t> sizes_of_all(ProcessGroup& group, std::size_t own, base::Location site) {
  const Tensor size = tensor::zeros({1}, {DType::I64});
  *size.data_as<std::int64_t>() = static_cast<std::int64_t>(own);
  const Tensor all = tensor::zeros({group.size()}, {DType::I64});
  group.all_gather_into(all, size, {}, site);
  return {all.data_as<std::int64_t>(), all.data_as<std::int64_t>() + group.size()};
}

TensorList rooms(int count, std::int64_t size) {
  TensorList all;
  for (int i = 0; i < count; ++i) all.push_back(tensor::zeros({size}, {DType::U8}));
  return all;
}

std::vector<wire::Bytes> trimmed(const TensorList& all, const std::vector<std::int64_t>& sizes) {
  std::vector<wire::Bytes> bytes;
  for (std::size_t i = 0; i < all.size(); ++i) bytes.push_back(bytes_of(all[i], 0, sizes[i]));
  return bytes;
}

}  // namespace

std::vector<wire::Bytes> all_gather_bytes(ProcessGroup& group, const wire::Bytes& own, base::Location site) {
  const std::vector<std::int64_t> sizes = sizes_of_all(group, own.size(), site);
  const std::int64_t largest = *std::max_element(sizes.begin(), sizes.end());
  const TensorList all = rooms(group.size(), largest);
  group.all_gather(all, tensor_of(own, largest), {}, site);
  return trimmed(all, sizes);
}

wire::Bytes broadcast_bytes(ProcessGroup& group, const wire::Bytes& own, int root, base::Location site) {
  const Tensor size = tensor::zeros({1}, {DType::I64});
  *size.data_as<std::int64_t>() = static_cast<std::int64_t>(own.size());
  group.broadcast(size, root, {}, site);
  const std::int64_t bytes = *size.data_as<std::int64_t>();
  const Tensor data = group.rank() == root ? tensor_of(own, bytes) : tensor::zeros({bytes}, {DType::U8});
  group.broadcast(data, root, {}, site);
  return bytes_of(data, 0, bytes);
}

std::vector<wire::Bytes> gather_bytes(ProcessGroup& group, const wire::Bytes& own, int root, base::Location site) {
  const std::vector<std::int64_t> sizes = sizes_of_all(group, own.size(), site);
  const std::int64_t largest = *std::max_element(sizes.begin(), sizes.end());
  const TensorList all = rooms(group.rank() == root ? group.size() : 0, largest);
  group.gather(all, tensor_of(own, largest), root, {}, site);
  return trimmed(all, sizes);
}

wire::Bytes scatter_bytes(ProcessGroup& group, const std::vector<wire::Bytes>& all, int root, base::Location site) {
  const bool is_root = group.rank() == root;
  if (is_root && all.size() != static_cast<std::size_t>(group.size())) {
    throw Error(ErrorKind::InvalidArgument, "ValueError",
                "scatter of objects needs one for each of " + std::to_string(group.size()) + " ranks, not " +
                    std::to_string(all.size()),
                site);
  }
  const Tensor sizes = tensor::zeros({group.size()}, {DType::I64});
  for (std::size_t i = 0; is_root && i < all.size(); ++i) {
    sizes.data_as<std::int64_t>()[i] = static_cast<std::int64_t>(all[i].size());
  }
  group.broadcast(sizes, root, {}, site);
  const std::int64_t* const of = sizes.data_as<std::int64_t>();
  const std::int64_t largest = *std::max_element(of, of + group.size());
  TensorList pieces;
  for (std::size_t i = 0; is_root && i < all.size(); ++i) pieces.push_back(tensor_of(all[i], largest));
  const Tensor own = tensor::zeros({largest}, {DType::U8});
  group.scatter(own, pieces, root, {}, site);
  return bytes_of(own, 0, of[group.rank()]);
}

}  // namespace distrun::collectives
