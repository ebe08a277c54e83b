#pragma once
// Draws which tests a soak runs, and how: all randomness comes from here, and from one seed. The order of draws does
// not depend on the number wanted, so an invocation can be repeated by the seed and its number.
//
// Some invocations go through a private daemon, so the seed and a number repeat them, too. The expected results of
// their tests are the same.
#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "fixtures/expected_soak.hpp"

namespace distrun::soak {

// One test of the plugin `soak` (tests/fixtures/soak.cpp).
struct Case {
  std::string fault;
  std::string moment;
  int world_size = 1;
  int culprit = 0;

  std::string id() const;
};

// One run of distrun.
struct Invocation {
  int number = 0;  // from 0, in order of drawing
  std::string isolation;
  bool through_daemon = false;
  int jobs = 1;
  std::uint64_t seed = 0;  // for distrun, which shuffles
  fixtures::Disturbs disturbs = fixtures::Disturbs::Nothing;
  std::chrono::milliseconds after{};  // when the disturbance happens
  std::vector<Case> cases;
};

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  // Returns the next one, with at most `cases_max` tests; isolations take turns. The first for each isolation has every
  // fault once and no disturbance.
  Invocation next(int cases_max);

 private:
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }
  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[below(all.size())];
  }
  void shuffle(std::vector<std::string>& names);
  void choose_disturbance(Invocation& invocation);
  std::string next_fault(const Invocation& invocation);
  Case choose_case(const Invocation& invocation);

  std::mt19937_64 random_;
  int drawn_ = 0;
  std::map<std::string, std::vector<std::string>> bags_;  // faults that an isolation has not had in this round
};

}  // namespace distrun::soak
