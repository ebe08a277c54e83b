#include <distrun/runtime/collectives/shm/direct_reads.hpp>

#include <sched.h>

#include <distrun/common/base/clock.hpp>

namespace distrun::collectives::shm {
namespace {

// The longest time that another process may take to copy a message.
constexpr base::Nanoseconds kLongestCopy = std::chrono::milliseconds(500);

constexpr std::uint64_t with_state(std::uint64_t word, ReadState state) {
  return 4 * (word / 4) + static_cast<std::uint64_t>(state);
}

}  // namespace

std::optional<ReadOffer> DirectReads::offer() noexcept {
  for (std::uint32_t place = 0; place < kReads; ++place) {
    if (in_use_[place].load(std::memory_order_relaxed) || in_use_[place].exchange(true)) continue;
    const ReadOffer offer{place, with_state(4 * ++turns_[place], ReadState::Offered)};
    word(offer).store(offer.word);
    return offer;
  }
  return std::nullopt;
}

bool DirectReads::is_fetched(const ReadOffer& offer) const noexcept {
  return word(offer).load() == with_state(offer.word, ReadState::Fetched);
}

bool DirectReads::is_broken(const ReadOffer& offer) const noexcept {
  const std::uint64_t found = word(offer).load();
  return found != offer.word && found != with_state(offer.word, ReadState::Fetching) &&
         found != with_state(offer.word, ReadState::Fetched);
}

bool DirectReads::end(const ReadOffer& offer, int reader) noexcept {
  std::uint64_t offered = offer.word;
  const bool was_fetched = !word(offer).compare_exchange_strong(offered, with_state(offer.word, ReadState::Free)) &&
                           wait_for_copy(offer, reader);
  word(offer).store(with_state(offer.word, ReadState::Free));
  in_use_[offer.place].store(false);
  return was_fetched;
}

// If the group has no other processes, the reader is a thread that reads the bytes in place, so it is waited for
// without a limit.
bool DirectReads::wait_for_copy(const ReadOffer& offer, int reader) const noexcept {
  const std::uint64_t reading = with_state(offer.word, ReadState::Fetching);
  const base::TimePoint until = base::system_clock().now() + kLongestCopy;
  while (word(offer).load() == reading) {
    ::sched_yield();
    if (area_->is_one_process()) continue;
    if (base::system_clock().now() >= until || !core::is_alive(area_->pid_of(reader))) break;
  }
  std::uint64_t found = reading;
  if (word(offer).compare_exchange_strong(found, with_state(offer.word, ReadState::Free))) return false;
  return found == with_state(offer.word, ReadState::Fetched);
}

bool DirectReads::claim(int sender, const ReadOffer& offer) const noexcept {
  std::uint64_t offered = offer.word;
  return area_->seat(sender).reads[offer.place].compare_exchange_strong(offered,
                                                                        with_state(offer.word, ReadState::Fetching));
}

bool DirectReads::give_back(int sender, const ReadOffer& offer) const noexcept {
  std::uint64_t reading = with_state(offer.word, ReadState::Fetching);
  return area_->seat(sender).reads[offer.place].compare_exchange_strong(reading,
                                                                        with_state(offer.word, ReadState::Fetched));
}

}  // namespace distrun::collectives::shm
