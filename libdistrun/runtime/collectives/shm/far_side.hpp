#pragma once
// The link of a group's memory to the ranks on other hosts (mirror.hpp). Thread-safe; no function
// blocks.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/runtime/collectives/shm/layout.hpp>

namespace distrun::collectives::shm {

class FarSide {
 public:
  virtual ~FarSide() = default;

  // Called after this rank has written what is to be shown. `outside`: the bytes of a message that are not in its slot.
  virtual void show_come(std::uint64_t exchange, int parts, std::size_t used) noexcept = 0;
  virtual void show_left(std::uint64_t exchange) noexcept = 0;
  virtual void show_message(int to, std::uint64_t written, ConstBytes outside) noexcept = 0;
  virtual void show_taken(int from, std::uint64_t taken) noexcept = 0;
  virtual void show_end(Presence how, std::string_view why) noexcept = 0;
  virtual void show_cause(std::uint64_t cause) noexcept = 0;

  // Returns the bytes of message number `written` of that rank, which came outside of its slot. Call once.
  virtual std::vector<std::byte> take_outside(int from, std::uint64_t written) = 0;

  // Returns whether the connection to that rank has ended, and the rank had not left before.
  virtual bool has_lost(int rank) const noexcept = 0;
  virtual bool has_lost_any() const noexcept = 0;
  // Return the rank's process, on its host, and the name of that host.
  virtual int pid_of(int rank) const noexcept = 0;
  virtual const std::string& host_of(int rank) const noexcept = 0;
};

}  // namespace distrun::collectives::shm
