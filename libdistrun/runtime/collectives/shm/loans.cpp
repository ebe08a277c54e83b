#include <distrun/runtime/collectives/shm/loans.hpp>

#include <sched.h>

#include <distrun/common/base/clock.hpp>

namespace distrun::collectives::shm {
namespace {

// The longest time that another process may take to copy a message.
constexpr base::Nanoseconds kLongestCopy = std::chrono::milliseconds(500);

constexpr std::uint64_t with_state(std::uint64_t word, Loan state) {
  return 4 * (word / 4) + static_cast<std::uint64_t>(state);
}

}  // namespace

std::optional<Lent> Loans::offer() noexcept {
  for (std::uint32_t place = 0; place < kLoans; ++place) {
    if (in_use_[place].load(std::memory_order_relaxed) || in_use_[place].exchange(true)) continue;
    const Lent lent{place, with_state(4 * ++turns_[place], Loan::Offered)};
    word(lent).store(lent.word);
    return lent;
  }
  return std::nullopt;
}

bool Loans::is_fetched(const Lent& lent) const noexcept {
  return word(lent).load() == with_state(lent.word, Loan::Fetched);
}

bool Loans::is_broken(const Lent& lent) const noexcept {
  const std::uint64_t found = word(lent).load();
  return found != lent.word && found != with_state(lent.word, Loan::Fetching) &&
         found != with_state(lent.word, Loan::Fetched);
}

bool Loans::end(const Lent& lent, int reader) noexcept {
  std::uint64_t offered = lent.word;
  const bool was_fetched =
      !word(lent).compare_exchange_strong(offered, with_state(lent.word, Loan::Free)) && wait_for_copy(lent, reader);
  word(lent).store(with_state(lent.word, Loan::Free));
  in_use_[lent.place].store(false);
  return was_fetched;
}

// If the group has no other processes, the reader is a thread that reads the bytes in place, so it is waited for
// without a limit.
bool Loans::wait_for_copy(const Lent& lent, int reader) const noexcept {
  const std::uint64_t reading = with_state(lent.word, Loan::Fetching);
  const base::TimePoint until = base::system_clock().now() + kLongestCopy;
  while (word(lent).load() == reading) {
    ::sched_yield();
    if (area_->is_one_process()) continue;
    if (base::system_clock().now() >= until || !core::is_alive(area_->pid_of(reader))) break;
  }
  std::uint64_t found = reading;
  if (word(lent).compare_exchange_strong(found, with_state(lent.word, Loan::Free))) return false;
  return found == with_state(lent.word, Loan::Fetched);
}

bool Loans::claim(int sender, const Lent& lent) const noexcept {
  std::uint64_t offered = lent.word;
  return area_->seat(sender).loans[lent.place].compare_exchange_strong(offered, with_state(lent.word, Loan::Fetching));
}

bool Loans::give_back(int sender, const Lent& lent) const noexcept {
  std::uint64_t reading = with_state(lent.word, Loan::Fetching);
  return area_->seat(sender).loans[lent.place].compare_exchange_strong(reading, with_state(lent.word, Loan::Fetched));
}

}  // namespace distrun::collectives::shm
