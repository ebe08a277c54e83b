#pragma once
// The interface between the runtime and its gloo module (module.cpp), which is opened when a group first needs it.
// Headers only: neither side needs a symbol of the other, so that programs with the runtime linked in can open the
// module too. Bytes must stay in place until a function has returned. All functions except close() block, and throw a
// std::exception with gloo's text: a closed connection, a timeout.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace distrun::collectives::gloo_line {

using Timeout = std::chrono::milliseconds;

// Where ranks exchange their addresses; the runtime implements it for the module.
class Meeting {
 public:
  virtual void set(const std::string& key, const std::vector<char>& value) = 0;
  virtual std::vector<char> get(const std::string& key) = 0;  // waits for the key
  virtual void wait(const std::vector<std::string>& keys) = 0;

 protected:
  ~Meeting() = default;
};

struct Turn {
  std::uint32_t tag = 0;  // different for each call
  Timeout timeout{};
};

// Computes of[i] = a[i] op b[i].
struct Reducing {
  std::size_t element = 0;  // bytes of one
  std::function<void(void* of, const void* a, const void* b, std::size_t count)> combine;
};

// Connections between all ranks of a group. One call at a time.
class Mesh {
 public:
  virtual ~Mesh() = default;

  virtual void barrier(const Turn& turn) = 0;
  virtual void broadcast(const Turn& turn, int root, std::byte* bytes, std::size_t size) = 0;
  virtual void all_reduce(const Turn& turn, const Reducing& reducing, const std::byte* in, std::byte* out,
                          std::size_t size) = 0;
  // On ranks that are not the root `out` is used as a temporary buffer.
  virtual void reduce(const Turn& turn, int root, const Reducing& reducing, const std::byte* in, std::byte* out,
                      std::size_t size) = 0;
  // Gathers `size` bytes of each rank, one after the other in `out`.
  virtual void all_gather(const Turn& turn, const std::byte* in, std::byte* out, std::size_t size) = 0;
  virtual void gather(const Turn& turn, int root, const std::byte* in, std::byte* out, std::size_t size) = 0;
  virtual void scatter(const Turn& turn, int root, const std::vector<const std::byte*>& in, std::byte* out,
                       std::size_t size) = 0;
  struct Piece {
    std::byte* bytes = nullptr;
    std::size_t size = 0;
  };
  // Exchanges a piece with each rank; a rank's piece for itself is skipped.
  virtual void all_to_all(const Turn& turn, const std::vector<Piece>& in, const std::vector<Piece>& out) = 0;

  // Ends waits for this rank, on all ranks. Thread-safe, may be repeated.
  virtual void close() noexcept = 0;
};

// The type of the module's symbol kEntry.
struct Module {
  int version = 0;  // kVersion, or it is of another distrun
  // `address`: of this host, numeric; the ranks listen there, and only there.
  std::unique_ptr<Mesh> (*connect)(int rank, int ranks, const char* address, Timeout timeout,
                                   Meeting& meeting) = nullptr;
};
inline constexpr int kVersion = 2;
inline constexpr char kFile[] = "distrun_gloo.so";
inline constexpr char kEntry[] = "distrun_gloo_module";

}  // namespace distrun::collectives::gloo_line
