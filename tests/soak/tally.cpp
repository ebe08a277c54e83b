#include "tally.hpp"

#include <algorithm>

#include "fixtures/expected_soak.hpp"

namespace distrun::soak {
namespace {

constexpr std::size_t kColumn = 10;

std::string padded(std::string text) {
  text.resize(std::max(text.size() + 1, kColumn), ' ');
  return text;
}

// Returns the command as typed in a shell.
std::string command_line(const std::string& program, const Texts& arguments) {
  std::string line = program;
  for (const std::string& argument : arguments) line += " " + argument;
  return line;
}

}  // namespace

void Tally::add(const Invocation& invocation, const std::vector<Checked>& checked) {
  for (const Checked& each : checked) {
    Count& count = counts_[{each.row, each.isolation}];
    ++count.all;
    tests_ += each.id.empty() ? 0 : 1;
    if (each.wrong.empty()) continue;
    ++count.wrong;
    wrong_.push_back(describe(invocation, each));
  }
}

std::string Tally::describe(const Invocation& invocation, const Checked& checked) const {
  std::string text = "wrong: " + checked.row + " in " + checked.isolation + ", invocation " +
                     std::to_string(invocation.number) + ", " + fixtures::soak_disturbance(invocation.disturbs).name +
                     (invocation.through_daemon ? ", with --daemon\n" : "\n");
  for (const std::string& sentence : checked.wrong) text += "  " + sentence + "\n";
  if (!checked.id.empty()) {
    Invocation alone = invocation;
    std::erase_if(alone.cases, [&](const Case& each) { return each.id() != checked.id; });
    text += "  alone: " + command_line(origin_.programs.distrun, arguments_for(alone, origin_.programs.plugin)) + "\n";
  }
  return text + "  with all beside it: scripts/soak " + std::to_string(origin_.tests) + " --seed " +
         std::to_string(origin_.seed) + " --only " + std::to_string(invocation.number) + "\n";
}

std::string Tally::matrix() const {
  Texts rows;
  for (const auto& fault : fixtures::soak_faults()) rows.push_back(fault.name);
  for (const auto& [key, count] : counts_) {
    if (std::find(rows.begin(), rows.end(), key.first) == rows.end()) rows.push_back(key.first);
  }
  std::string text;
  for (const std::string& isolation : fixtures::kSoakIsolations) text += padded(isolation);
  text += "fault; of invocations: disturbance\n";
  for (const std::string& row : rows) {
    for (const std::string& isolation : fixtures::kSoakIsolations) {
      const auto found = counts_.find({row, isolation});
      std::string cell = found == counts_.end() ? "-" : std::to_string(found->second.all);
      if (found != counts_.end() && found->second.wrong > 0) {
        cell += " (" + std::to_string(found->second.wrong) + "!)";
      }
      text += padded(std::move(cell));
    }
    text += row + "\n";
  }
  return text;
}

std::string Tally::wrong_text() const {
  std::string text;
  for (const std::string& each : wrong_) text += each;
  return text;
}

}  // namespace distrun::soak
