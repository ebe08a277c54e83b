#include <distrun/runtime/tensor/io/safetensors.hpp>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <functional>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/replaced_file.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/empty.hpp>
#include <distrun/runtime/tensor/io/safetensors_header.hpp>

namespace distrun::tensor {
namespace {

static_assert(std::endian::native == std::endian::little, "elements go to files as they lie in memory");

using Write = std::function<void(std::span<const std::byte>)>;
// Fills `into` with the bytes at that position.
using Read = std::function<void(std::uint64_t place, std::span<std::byte> into)>;

[[noreturn]] void refuse_file(const std::string& text) { throw Error(ErrorKind::InvalidArgument, text); }

std::span<std::byte> bytes_in(const Tensor& tensor) {
  return {tensor.data(), static_cast<std::size_t>(tensor.numel()) * size_of(tensor.dtype())};
}

// ---- writing

NamedTensors in_file_order(const NamedTensors& tensors) {
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.defined()) refuse_tensor(name, "it is undefined");
    if (tensor.is_sparse()) {
      refuse_tensor(name,
                    "it is sparse, which the format does not support; save its to_dense(), or its indices and values");
    }
  }
  NamedTensors ordered = tensors;
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return size_of(a.second.dtype()) > size_of(b.second.dtype()); });
  return ordered;
}

// Returns the header with its length in front.
std::string packed_header(const NamedTensors& tensors, const Metadata& metadata) {
  SafetensorsHeader header{{}, metadata};
  std::uint64_t end = 0;
  for (const auto& [name, tensor] : tensors) {
    const std::uint64_t begin = end;
    end += static_cast<std::uint64_t>(tensor.numel()) * size_of(tensor.dtype());
    header.entries.push_back({name, tensor.dtype(), tensor.sizes(), begin, end});
  }
  std::string text = safetensors_header_text(header);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > kSafetensorsHeaderMost) {
    refuse_file("the names and the metadata need a header of " + std::to_string(text.size()) + " bytes, at most " +
                std::to_string(kSafetensorsHeaderMost) + " can be read");
  }
  const std::uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text;
}

// Copies one device tensor to the host at a time.
void write_elements(const NamedTensors& tensors, const Write& write) {
  for (const auto& [name, tensor] : tensors) {
    const Tensor here = plain::contiguous(plain::to(tensor, device::kCpu));
    write(bytes_in(here));
  }
}

// ---- reading

void check_bools(const std::string& name, const Tensor& tensor) {
  if (tensor.dtype() != DType::Bool) return;
  for (const std::byte each : bytes_in(tensor)) {
    if (std::to_integer<int>(each) > 1) {
      refuse_tensor(name, "a BOOL is " + std::to_string(std::to_integer<int>(each)) + ", but must be 0 or 1");
    }
  }
}

Safetensors read_all(const Read& read, std::uint64_t size) {
  std::uint64_t length = 0;
  if (size < sizeof length) {
    refuse_file("it has " + std::to_string(size) +
                " bytes, but a safetensors file begins with 8 bytes for its header's length");
  }
  read(0, std::as_writable_bytes(std::span(&length, 1)));
  const std::uint64_t start = sizeof length;
  if (length > size - start) {
    refuse_file("its header should have " + std::to_string(length) + " bytes, and " + std::to_string(size - start) +
                " follow; it is cut off or not a safetensors file");
  }
  if (length > kSafetensorsHeaderMost) {
    refuse_file("its header has " + std::to_string(length) + " bytes, at most " +
                std::to_string(kSafetensorsHeaderMost) + " are read");
  }
  std::string json(length, ' ');
  read(start, std::as_writable_bytes(std::span(json)));
  SafetensorsHeader header = parse_safetensors_header(json, size - start - length);
  Safetensors file{{}, std::move(header.metadata)};
  for (const SafetensorsEntry& each : header.entries) {
    const Tensor tensor = plain::empty(each.sizes, {each.dtype, device::kCpu});
    read(start + length + each.begin, bytes_in(tensor));
    check_bools(each.name, tensor);
    file.tensors.emplace_back(each.name, tensor);
  }
  return file;
}

// Opens a regular file. Throws Error{Failed} for others.
base::Fd open_file(const std::string& path, std::uint64_t& size) {
  base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a FIFO would wait for its writer
  if (!fd) base::throw_errno("cannot read " + path, errno);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) base::throw_errno("cannot read " + path, errno);
  if (S_ISDIR(status.st_mode)) base::throw_errno("cannot read " + path, EISDIR);
  if (!S_ISREG(status.st_mode)) throw Error(ErrorKind::Failed, "cannot read " + path + ": it is not a regular file");
  size = static_cast<std::uint64_t>(status.st_size);
  return fd;
}

void read_file(const std::string& path, int fd, std::uint64_t place, std::span<std::byte> into) {
  while (!into.empty()) {
    const ssize_t got = ::pread(fd, into.data(), into.size(), static_cast<off_t>(place));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) base::throw_errno("cannot read " + path, errno);
    if (got == 0) throw Error(ErrorKind::Failed, "cannot read " + path + ": it was truncated while being read");
    place += static_cast<std::uint64_t>(got);
    into = into.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace

void save_safetensors(const std::string& path, const NamedTensors& tensors, const Metadata& metadata) {
  try {
    const NamedTensors ordered = in_file_order(tensors);
    const std::string header = packed_header(ordered, metadata);
    base::ReplacedFile file(path);
    file.write(std::as_bytes(std::span(header)));
    write_elements(ordered, [&file](std::span<const std::byte> bytes) { file.write(bytes); });
    file.take_place(base::ReplacedFile::Sync::Yes);
  } catch (Error& error) {
    if (error.kind() != ErrorKind::InvalidArgument) throw;
    throw error.while_doing("save " + path);
  }
}

std::vector<std::byte> encode_safetensors(const NamedTensors& tensors, const Metadata& metadata) {
  const NamedTensors ordered = in_file_order(tensors);
  const std::string header = packed_header(ordered, metadata);
  std::vector<std::byte> all;
  const auto append = [&all](std::span<const std::byte> bytes) { all.insert(all.end(), bytes.begin(), bytes.end()); };
  append(std::as_bytes(std::span(header)));
  write_elements(ordered, append);
  return all;
}

Safetensors load_safetensors(const std::string& path) {
  std::uint64_t size = 0;
  const base::Fd fd = open_file(path, size);
  try {
    return read_all([&](std::uint64_t place, std::span<std::byte> into) { read_file(path, fd.get(), place, into); },
                    size);
  } catch (Error& error) {
    if (error.kind() != ErrorKind::InvalidArgument) throw;
    throw error.while_doing("load " + path);
  }
}

Safetensors decode_safetensors(std::span<const std::byte> bytes) {
  return read_all(
      [bytes](std::uint64_t place, std::span<std::byte> into) {
        if (!into.empty()) std::memcpy(into.data(), bytes.data() + place, into.size());
      },
      bytes.size());
}

}  // namespace distrun::tensor
