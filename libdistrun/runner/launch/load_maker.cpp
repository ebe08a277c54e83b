#include <distrun/runner/launch/load_maker.hpp>

#include <algorithm>
#include <chrono>
#include <string>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/deadline.hpp>

namespace distrun::launch {
namespace {

constexpr std::size_t kMemory = std::size_t{32} << 20;  // of each thread: more than caches hold
constexpr std::size_t kPiece = std::size_t{256} << 10;  // written between two looks at the time
constexpr std::uint64_t kLeastMs = 20, kMostMs = 400;   // of one kind of load

base::TimePoint now() { return base::system_clock().now(); }

}  // namespace

LoadMaker::LoadMaker(const LoadPlan& plan, int cores) : plan_(plan) {
  if (!plan.cpu && !plan.memory) return;
  try {
    for (int i = 0; i < std::max(cores, 1); ++i) {
      const std::string name = "distrun-load" + std::to_string(i);
      threads_.emplace_back(name, [this, own = base::derive_seed(plan.seed, name)] { work(base::Rng(own)); });
    }
  } catch (...) {
    stop();  // or the threads that were made would be joined for ever
    throw;
  }
}

LoadMaker::~LoadMaker() { stop(); }

void LoadMaker::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  over_.notify_all();
}

void LoadMaker::rest_until(base::TimePoint end) {
  std::unique_lock lock(mutex_);
  over_.wait_until(lock, end, [this] { return is_over_.load(); });
}

void LoadMaker::work(base::Rng rng) {
  std::vector<unsigned char> memory(plan_.memory ? kMemory : 0);
  std::size_t at = 0;
  while (!is_over_) {
    const base::TimePoint end =
        base::deadline_after(std::chrono::milliseconds(kLeastMs + rng.below(kMostMs - kLeastMs)), now());
    const std::uint64_t kind = rng.below(3);
    if (kind == 0) rest_until(end);
    while (kind != 0 && !is_over_ && now() < end) {
      if (!plan_.memory || (kind == 1 && plan_.cpu)) continue;
      std::fill_n(memory.begin() + static_cast<std::ptrdiff_t>(at), kPiece, static_cast<unsigned char>(rng.next()));
      at = (at + kPiece) % kMemory;
    }
  }
}

}  // namespace distrun::launch
