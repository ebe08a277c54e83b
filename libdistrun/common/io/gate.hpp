#pragma once
// Counts the users of a service. close() refuses new ones; closed() completes when the last one has left. Destroying a
// gate that has users is a broken invariant.
#include <utility>

#include <distrun/common/io/one_shot.hpp>

namespace distrun::io {

class Gate {
 public:
  // Leaves the gate when destroyed.
  class Pass {
   public:
    explicit Pass(Gate& gate) : gate_(&gate) {}
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Pass& operator=(Pass&&) = delete;
    ~Pass() {
      if (gate_ != nullptr) gate_->leave();
    }

   private:
    Gate* gate_;
  };

  explicit Gate(Loop& loop) : empty_(loop) {}
  ~Gate();

  // Throws Error{Cancelled} once close() was called.
  Pass enter();
  void close();
  Task<bool> closed() { return empty_.wait(); }

 private:
  void leave();

  OneShot<bool> empty_;
  int inside_ = 0;
  bool closing_ = false;
};

}  // namespace distrun::io
