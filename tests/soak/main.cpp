// soak_tests N [--seed S] [--only K] [--parallel P] [--keep DIRECTORY]: runs N tests with random faults and compares
// each with its expected outcome; scripts/soak says more. Exit status: 0 all was right, 1 something was not, 2 usage.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iostream>
#include <limits>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "draw.hpp"
#include "play.hpp"
#include "small_disk.hpp"
#include "tally.hpp"

namespace {

using namespace distrun::soak;

constexpr int kTestsMax = 1'000'000;

struct Options {
  int tests = 0;
  std::uint64_t seed = std::random_device()();
  std::optional<int> only;
  int parallel = static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U));
  std::string keep;
};

template <class Number>
Number number_of(const std::string& what, std::string_view text, Number least, Number most) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= least && number <= most) return number;
  throw std::invalid_argument(what + ": '" + std::string(text) + "' is not a number from " + std::to_string(least) +
                              " to " + std::to_string(most));
}

Options read_options(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    if (!name.starts_with("--")) {
      options.tests = number_of<int>("N", name, 1, kTestsMax);
      continue;
    }
    if (++i == arguments.size()) throw std::invalid_argument(name + " needs a value");
    const std::string& value = arguments[i];
    if (name == "--seed") {
      options.seed = number_of<std::uint64_t>(name, value, 0, std::numeric_limits<std::uint64_t>::max());
    } else if (name == "--only") {
      options.only = number_of<int>(name, value, 0, kTestsMax);
    } else if (name == "--parallel") {
      options.parallel = number_of<int>(name, value, 1, 256);
    } else if (name == "--keep") {
      options.keep = value;
    } else {
      throw std::invalid_argument(name + " is no option; they are --seed, --only, --parallel and --keep");
    }
  }
  if (options.tests == 0) throw std::invalid_argument("N, the number of tests, is missing");
  return options;
}

// Draws invocations in sequence and plays them on several threads.
class Soak {
 public:
  Soak(Options options, Programs programs, bool small_disks)
      : options_(std::move(options)),
        draw_(options_.seed),
        tally_({options_.tests, options_.seed, programs}),
        play_(std::move(programs), small_disks, options_.keep) {}

  Tally& run() {
    std::vector<std::thread> players;
    for (int i = 0; i < options_.parallel; ++i) players.emplace_back([this] { play_all(); });
    for (std::thread& player : players) player.join();
    if (shows_progress_) std::cout << "\r\033[K";
    return tally_;
  }

 private:
  void play_all() {
    while (const std::optional<Invocation> invocation = next()) {
      const std::vector<Checked> checked = play_or_tell(*invocation);
      const std::lock_guard lock(mutex_);
      tally_.add(*invocation, checked);
      show_progress();
    }
  }

  std::vector<Checked> play_or_tell(const Invocation& invocation) const {
    try {
      return play_.play(invocation);
    } catch (const std::exception& error) {
      return {{"(not played)", invocation.isolation, "", {error.what()}}};
    }
  }

  std::optional<Invocation> next() {
    const std::lock_guard lock(mutex_);
    while (drawn_ < options_.tests) {
      Invocation invocation = draw_.next(options_.tests - drawn_);
      drawn_ += static_cast<int>(invocation.cases.size());
      if (!options_.only || *options_.only == invocation.number) return invocation;
    }
    return std::nullopt;
  }

  void show_progress() const {
    if (!shows_progress_) return;
    std::cout << "\r\033[K" << tally_.tests() << " of " << options_.tests << " tests, " << tally_.wrong() << " wrong"
              << std::flush;
  }

  const Options options_;
  const bool shows_progress_ = isatty(STDOUT_FILENO) != 0;
  std::mutex mutex_;  // guards all below
  Draw draw_;
  int drawn_ = 0;
  Tally tally_;
  const Play play_;
};

int soak(const Options& options) {
  const bool small_disks = own_mounts();
  std::cout << "soak of " << options.tests << " tests, --seed " << options.seed << ", " << options.parallel
            << " runs at a time, full disks are " << (small_disks ? "small ones" : "limits of file size") << std::endl;
  const auto started = std::chrono::steady_clock::now();
  Soak all(options, {DISTRUN_BIN, DISTRUND_BIN, DISTRUN_SOAK_PLUGIN, DISTRUN_NEIGHBOUR}, small_disks);
  const Tally& tally = all.run();
  const auto took = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - started);
  std::cout << tally.matrix() << tally.wrong_text() << tally.tests() << " tests judged in " << took.count() << " s, "
            << (tally.wrong() == 0 ? "all is right" : std::to_string(tally.wrong()) + " wrong") << std::endl;
  return tally.wrong() == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return soak(read_options({argv + 1, argv + argc}));
  } catch (const std::invalid_argument& error) {
    std::cerr << "soak: " << error.what() << "\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "soak: " << error.what() << "\n";
    return 1;
  }
}
