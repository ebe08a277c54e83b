#include "draw.hpp"

#include <algorithm>

namespace distrun::soak {
namespace {

using fixtures::Disturbs;

constexpr int kCasesMin = 20;
constexpr int kCasesMax = 50;
constexpr int kCasesCutShort = 10;  // for a run that does not finish
constexpr int kJobsMax = 4;
constexpr int kStrikeMsMax = 2500;

bool has(const Invocation& invocation, const Case& other) {
  return std::any_of(invocation.cases.begin(), invocation.cases.end(),
                     [&](const Case& each) { return each.id() == other.id(); });
}

}  // namespace

std::string Case::id() const {
  const char* name = fixtures::soak_fault(fault).hangs ? "hangs_in_" : "ends_in_";
  return "Soak." + (name + std::to_string(world_size)) + "/fault=" + fault + ",culprit=" + std::to_string(culprit) +
         ",moment=" + moment;
}

// Not std::shuffle, which may differ between libraries.
void Draw::shuffle(std::vector<std::string>& names) {
  for (std::size_t left = names.size(); left > 1; --left) std::swap(names[left - 1], names[below(left)]);
}

// Each fault comes once before any comes again. A fault that must run alone waits for an invocation without --jobs.
std::string Draw::next_fault(const Invocation& invocation) {
  std::vector<std::string>& bag = bags_[invocation.isolation];
  const auto fits = [&](const std::string& name) {
    return invocation.jobs == 1 || fixtures::soak_fault(name).one_at_a_time.empty();
  };
  auto found = std::find_if(bag.begin(), bag.end(), fits);
  if (found == bag.end()) {
    std::vector<std::string> all;
    for (const auto& fault : fixtures::soak_faults()) all.push_back(fault.name);
    shuffle(all);
    bag.insert(bag.end(), all.begin(), all.end());
    found = std::find_if(bag.begin(), bag.end(), fits);
  }
  std::string name = *found;
  bag.erase(found);
  return name;
}

Case Draw::choose_case(const Invocation& invocation) {
  Case chosen;
  chosen.fault = next_fault(invocation);
  do {  // an invocation runs a test once; there are 45 of each fault
    chosen.moment = one_of(fixtures::kSoakMoments);
    chosen.world_size = 1 + static_cast<int>(below(fixtures::kSoakWorldSizeMax));
    chosen.culprit = static_cast<int>(below(static_cast<std::size_t>(chosen.world_size)));
  } while (has(invocation, chosen));
  return chosen;
}

void Draw::choose_disturbance(Invocation& invocation) {
  invocation.jobs = below(3) == 0 ? 2 + static_cast<int>(below(kJobsMax - 1)) : 1;
  invocation.through_daemon = below(2) == 0;
  std::vector<Disturbs> lots;
  for (const auto& each : fixtures::soak_disturbances()) lots.insert(lots.end(), std::size_t(each.weight), each.what);
  const auto& drawn = fixtures::soak_disturbance(one_of(lots));
  const bool fits = drawn.not_in != invocation.isolation && (!drawn.wants_daemon || invocation.through_daemon);
  if (fits) invocation.disturbs = drawn.what;
}

Invocation Draw::next(int cases_max) {
  const auto& isolations = fixtures::kSoakIsolations;
  Invocation invocation;
  invocation.number = drawn_++;
  const auto number = static_cast<std::size_t>(invocation.number);
  const bool is_first = number < isolations.size();
  invocation.isolation = isolations[number % isolations.size()];
  invocation.seed = below(1'000'000);
  invocation.after = std::chrono::milliseconds(below(kStrikeMsMax));
  auto count = kCasesMin + static_cast<int>(below(kCasesMax - kCasesMin + 1));
  if (is_first) {
    count = static_cast<int>(fixtures::soak_faults().size());
  } else {
    choose_disturbance(invocation);
  }
  const bool is_cut_short = fixtures::soak_disturbance(invocation.disturbs).told == fixtures::Told::ByEvents;
  if (is_cut_short) count = kCasesCutShort;
  for (int i = 0; i < count; ++i) invocation.cases.push_back(choose_case(invocation));
  // Cut only afterwards: the draws do not depend on the number of tests wanted.
  if (count > cases_max) invocation.cases.resize(static_cast<std::size_t>(cases_max));
  return invocation;
}

}  // namespace distrun::soak
