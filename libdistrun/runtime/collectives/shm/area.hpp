#pragma once
// The memory of a group, mapped. Ranks that are threads of one process share one mapping, so that sanitizers see what
// they do to each other.
#include <memory>

#include <distrun/runtime/collectives/shm/layout.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::collectives::shm {

class Area {
 public:
  // The first rank of the group makes it, the others find it in the store, which is the group's own. Throws what the
  // store throws, Error{Timeout} and base::PeerFailed with the name of the first one, Error{Disconnected} if ranks are
  // on several machines, and Error{Unimplemented} for too many.
  static std::shared_ptr<Area> meet(Store& store, const GroupInfo& group, base::TimePoint deadline);

  Area(int ranks);
  Area(int ranks, const core::SharedAddress& address);
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;

  core::SharedAddress address() const { return memory_.address(); }
  AreaHead& head() const noexcept { return at<AreaHead>(0); }
  Seat& seat(int rank) const noexcept { return at<Seat>(layout_.seat(rank)); }
  Card& card(int rank, std::uint64_t exchange) const noexcept { return seat(rank).cards[exchange % kCards]; }
  Part& part(int rank, std::uint64_t exchange, int part) const noexcept {
    return at<Part>(layout_.part(rank, exchange % kCards, part));
  }
  std::byte* room(int rank, std::uint64_t exchange) const noexcept {
    return bytes() + layout_.room(rank, exchange % kCards);
  }
  MailBox& mail_box(int from, int to) const noexcept { return at<MailBox>(layout_.mail_box(from, to)); }

 private:
  std::byte* bytes() const noexcept { return static_cast<std::byte*>(memory_.data()); }
  template <class T>
  T& at(std::size_t offset) const noexcept {
    return *reinterpret_cast<T*>(bytes() + offset);
  }

  Layout layout_;
  core::SharedMemory memory_;
};

}  // namespace distrun::collectives::shm
