#pragma once
// The line between the runtime and its module of gloo (module.cpp), which is opened when a group first asks for it. It
// is headers alone: neither side needs a symbol of the other, so that programs that have the runtime within can open
// the module too. All bytes stay where they are until a function has returned. Everything but close() blocks and throws
// std::exception with what gloo says: a connection that has ended, a timeout.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace distrun::collectives::gloo_line {

using Timeout = std::chrono::milliseconds;

// Where ranks find each other's addresses; what the module asks of the runtime.
class Meeting {
 public:
  virtual void set(const std::string& key, const std::vector<char>& value) = 0;
  virtual std::vector<char> get(const std::string& key) = 0;  // waits for it
  virtual void wait(const std::vector<std::string>& keys) = 0;

 protected:
  ~Meeting() = default;
};

struct Turn {
  std::uint32_t tag = 0;  // another one for each call
  Timeout timeout{};
};

// of[i] = a[i] op b[i]
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
  // Of ranks that are not the root, `out` is room that is used meanwhile.
  virtual void reduce(const Turn& turn, int root, const Reducing& reducing, const std::byte* in, std::byte* out,
                      std::size_t size) = 0;
  // `size` bytes of each rank, in `out` one after the other.
  virtual void all_gather(const Turn& turn, const std::byte* in, std::byte* out, std::size_t size) = 0;
  virtual void gather(const Turn& turn, int root, const std::byte* in, std::byte* out, std::size_t size) = 0;
  virtual void scatter(const Turn& turn, int root, const std::vector<const std::byte*>& in, std::byte* out,
                       std::size_t size) = 0;
  struct Piece {
    std::byte* bytes = nullptr;
    std::size_t size = 0;
  };
  // A piece for each rank, and of each; what a rank has for itself is left out.
  virtual void all_to_all(const Turn& turn, const std::vector<Piece>& in, const std::vector<Piece>& out) = 0;

  // Whoever waits for this rank ends, here and elsewhere. Any thread, again and again.
  virtual void close() noexcept = 0;
};

// What the module's symbol kEntry is.
struct Module {
  int version = 0;  // kVersion, or it is of another distrun
  std::unique_ptr<Mesh> (*connect)(int rank, int ranks, Timeout timeout, Meeting& meeting) = nullptr;
};
inline constexpr int kVersion = 1;
inline constexpr char kFile[] = "distrun_gloo.so";
inline constexpr char kEntry[] = "distrun_gloo_module";

}  // namespace distrun::collectives::gloo_line
