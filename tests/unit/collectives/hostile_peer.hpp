#pragma once
// A group of two ranks on one machine: rank 0 is under test; rank 1 exists only as the contents of the memory that both
// share, which may be anything.
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <sstream>
#include <thread>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/collectives/shm/bell.hpp>
#include <distrun/runtime/collectives/shm/exchange.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::testing {

inline collectives::GroupInfo pair_of_ranks(int rank) {
  collectives::GroupInfo group;
  group.name = "world";
  group.rank = rank;
  group.ranks = {0, 1};
  return group;
}

inline base::TimePoint from_now(base::Nanoseconds time) { return base::system_clock().now() + time; }

// The shared memory; rank 1 seems to be another process.
struct SharedWithStranger {
  SharedWithStranger() {
    area->take_seat(0);
    peer().pid = ::getppid();
  }
  collectives::shm::Seat& own() const { return area->seat(0); }
  collectives::shm::Seat& peer() const { return area->seat(1); }

  const std::shared_ptr<collectives::shm::Area> area = std::make_shared<collectives::shm::Area>(2);
  const collectives::GroupInfo group = pair_of_ranks(0);
  const collectives::shm::Bells bells{area, group};
};

// Rank 1 as a thread that mirrors rank 0 in each exchange, except for what `tamper` changes. For groups that are opened
// by their store.
class Mirror {
 public:
  using Tamper =
      std::function<void(collectives::shm::SlotHeader& header, collectives::shm::Part& part, std::byte* room)>;

  Mirror(Store& store, Tamper tamper)
      : thread_("mirror", [this, &store, tamper = std::move(tamper)] {
          const collectives::shm::Area area(2, parsed(store.get("area")));
          area.seat(1).pid = ::getppid();
          run(area, tamper);
        }) {}
  ~Mirror() { is_over_ = true; }
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;

 private:
  static core::SharedAddress parsed(const std::string& text) {
    core::SharedAddress address;
    std::istringstream(text) >> address.inode >> address.pid >> address.fd;
    return address;
  }
  void run(const collectives::shm::Area& area, const Tamper& tamper) const {
    for (std::uint64_t number = 1; !is_over_;) {
      if (area.seat(0).come.load() < number) {
        std::this_thread::yield();
        continue;
      }
      show(area, number, tamper);
      area.seat(1).come = number;
      area.seat(1).left = number++;
    }
  }
  static void show(const collectives::shm::Area& area, std::uint64_t number, const Tamper& tamper) {
    for (int part = 0; part < 2; ++part) area.part(1, number, part) = area.part(0, number, part);
    std::memcpy(area.room(1, number), area.room(0, number), 64);
    area.header(1, number) = area.header(0, number);
    area.seat(1).marks[number % collectives::shm::kSlots] =
        area.seat(0).marks[number % collectives::shm::kSlots].load();
    tamper(area.header(1, number), area.part(1, number, 0), area.room(1, number));
  }

  std::atomic<bool> is_over_{false};
  const base::Thread thread_;
};

}  // namespace distrun::testing
