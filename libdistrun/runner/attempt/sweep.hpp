#pragma once
// Finds what has outlived the ranks: ends processes, removes other leftovers of the attempt as far as that is safe, and
// reports everything. What ends or vanishes by itself within a short grace is no leak, nor is what the kernel is
// clearing away by then.
//
//   looking (until nothing is left, or the grace is over) -> ending (until all is gone, or its bound) -> done
//
// Lives on: the coordinator's loop.
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include <distrun/common/io/loop.hpp>
#include <distrun/runner/attempt/bounds.hpp>
#include <distrun/runner/attempt/test_resources.hpp>
#include <distrun/runner/launch/node.hpp>

namespace distrun::runner {

class Sweep {
 public:
  using OnDone = std::function<void(std::vector<Leak>)>;

  // `world` and `belongings` must outlive this. Waits for the grace only if `patient`.
  Sweep(io::Loop& loop, launch::World& world, TestResources& resources, const Graces& graces, bool patient,
        OnDone on_done);

  // May call on_done before it returns.
  void start();

 private:
  void look();
  void end();
  bool is_end_over() const;
  void tell_names();
  Leak* find_process(std::string_view process);
  void again_in_a_moment();

  io::Loop& loop_;
  launch::World& world_;
  TestResources& resources_;
  Graces graces_;
  bool patient_;
  bool ending_ = false;
  base::TimePoint until_;
  OnDone on_done_;
  std::vector<Leak> leaks_;
  io::Alarm alarm_;
};

}  // namespace distrun::runner
