#include <distrun/runtime/collectives/objects.hpp>

#include <algorithm>
#include <cstring>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

namespace distrun::collectives {
namespace {

constexpr std::int64_t kObjectMost = std::int64_t{1} << 30;  // bytes of one object, as for an RPC message

// Copies the bytes, padded to `size`, to the group's device.
Tensor tensor_of(const ProcessGroup& group, const wire::Bytes& bytes, std::int64_t size) {
  const Tensor tensor = tensor::zeros({size}, {DType::U8});
  if (!bytes.empty()) std::memcpy(tensor.data(), bytes.data(), bytes.size());
  return tensor::to(tensor, group.device());
}

Tensor room(const ProcessGroup& group, std::int64_t size, DType dtype = DType::U8) {
  return tensor::zeros({size}, {dtype, group.device()});
}

wire::Bytes bytes_of(const Tensor& tensor, std::int64_t size) {
  const Tensor host = tensor::to(tensor, device::kCpu);
  const auto* const begin = reinterpret_cast<const wire::Bytes::value_type*>(host.data());
  return {begin, begin + size};
}

Tensor numbers(const ProcessGroup& group, const std::vector<std::int64_t>& values) {
  const Tensor tensor = tensor::zeros({static_cast<std::int64_t>(values.size())}, {DType::I64});
  std::copy(values.begin(), values.end(), tensor.data_as<std::int64_t>());
  return tensor::to(tensor, group.device());
}

std::vector<std::int64_t> values_of(const Tensor& numbers) {
  const Tensor host = tensor::to(numbers, device::kCpu);
  return {host.data_as<std::int64_t>(), host.data_as<std::int64_t>() + host.numel()};
}

// Checks a size sent by another rank before memory is allocated and bytes are read by it. All ranks see the same sizes
// and so refuse the same.
void check_size(const ProcessGroup& group, std::int64_t size, int place, base::Location site) {
  if (size >= 0 && size <= kObjectMost) return;
  throw Error(ErrorKind::InvalidArgument, "ValueError",
              "rank " + std::to_string(group.ranks()[static_cast<std::size_t>(place)]) + " of group " + group.name() +
                  " has an object of " + std::to_string(size) + " bytes, and at most " + std::to_string(kObjectMost) +
                  " are allowed; send it in parts, or as tensors",
              site);
}

// Waits until the host can read the sizes, so that it does not use those of a failed call.
void finish(const ProcessGroup& group, const Work& work, base::Location site) { work.wait(group.host_wait(), site); }

std::vector<std::int64_t> sizes_of_all(ProcessGroup& group, std::size_t own, base::Location site) {
  const Tensor all = room(group, group.size(), DType::I64);
  finish(group, group.all_gather_into(all, numbers(group, {static_cast<std::int64_t>(own)}), {}, site), site);
  std::vector<std::int64_t> sizes = values_of(all);
  for (int place = 0; place < group.size(); ++place) {
    check_size(group, sizes[static_cast<std::size_t>(place)], place, site);
  }
  return sizes;
}

TensorList rooms(const ProcessGroup& group, int count, std::int64_t size) {
  TensorList all;
  for (int i = 0; i < count; ++i) all.push_back(room(group, size));
  return all;
}

std::vector<wire::Bytes> trimmed(const TensorList& all, const std::vector<std::int64_t>& sizes) {
  std::vector<wire::Bytes> bytes;
  for (std::size_t i = 0; i < all.size(); ++i) bytes.push_back(bytes_of(all[i], sizes[i]));
  return bytes;
}

}  // namespace

std::vector<wire::Bytes> all_gather_bytes(ProcessGroup& group, const wire::Bytes& own, base::Location site) {
  const std::vector<std::int64_t> sizes = sizes_of_all(group, own.size(), site);
  const std::int64_t largest = *std::max_element(sizes.begin(), sizes.end());
  const TensorList all = rooms(group, group.size(), largest);
  finish(group, group.all_gather(all, tensor_of(group, own, largest), {}, site), site);
  return trimmed(all, sizes);
}

wire::Bytes broadcast_bytes(ProcessGroup& group, const wire::Bytes& own, int root, base::Location site) {
  const Tensor size = numbers(group, {static_cast<std::int64_t>(own.size())});
  finish(group, group.broadcast(size, root, {}, site), site);
  const std::int64_t bytes = values_of(size).front();
  check_size(group, bytes, root, site);
  const Tensor data = group.rank() == root ? tensor_of(group, own, bytes) : room(group, bytes);
  finish(group, group.broadcast(data, root, {}, site), site);
  return bytes_of(data, bytes);
}

std::vector<wire::Bytes> gather_bytes(ProcessGroup& group, const wire::Bytes& own, int root, base::Location site) {
  const std::vector<std::int64_t> sizes = sizes_of_all(group, own.size(), site);
  const std::int64_t largest = *std::max_element(sizes.begin(), sizes.end());
  const TensorList all = rooms(group, group.rank() == root ? group.size() : 0, largest);
  finish(group, group.gather(all, tensor_of(group, own, largest), root, {}, site), site);
  return trimmed(all, sizes);
}

wire::Bytes scatter_bytes(ProcessGroup& group, const std::vector<wire::Bytes>& all, int root, base::Location site) {
  const bool is_root = group.rank() == root;
  if (is_root && all.size() != static_cast<std::size_t>(group.size())) {
    throw Error(ErrorKind::InvalidArgument, "ValueError",
                "scatter of objects needs one object for each of " + std::to_string(group.size()) + " ranks, not " +
                    std::to_string(all.size()),
                site);
  }
  std::vector<std::int64_t> own_sizes(static_cast<std::size_t>(group.size()));
  for (std::size_t i = 0; is_root && i < all.size(); ++i) own_sizes[i] = static_cast<std::int64_t>(all[i].size());
  const Tensor told = numbers(group, own_sizes);
  finish(group, group.broadcast(told, root, {}, site), site);
  const std::vector<std::int64_t> sizes = values_of(told);
  for (const std::int64_t size : sizes) check_size(group, size, root, site);
  const std::int64_t largest = *std::max_element(sizes.begin(), sizes.end());
  TensorList pieces;
  for (std::size_t i = 0; is_root && i < all.size(); ++i) pieces.push_back(tensor_of(group, all[i], largest));
  const Tensor own = room(group, largest);
  finish(group, group.scatter(own, pieces, root, {}, site), site);
  return bytes_of(own, sizes[static_cast<std::size_t>(group.rank())]);
}

}  // namespace distrun::collectives
