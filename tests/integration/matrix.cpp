#include "matrix.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

namespace distrun::testing {
namespace {

using Cells = std::map<std::string, std::vector<std::string>>;  // by isolation

// In the order in which fixtures were first entered.
std::vector<std::pair<std::string, Cells>>& lines() {
  static std::vector<std::pair<std::string, Cells>> all;
  return all;
}

std::string cell(const Cells& cells, const std::string& isolation) {
  const auto found = cells.find(isolation);
  if (found == cells.end()) return "-";
  return found->second.empty() ? "ok" : "differs";
}

}  // namespace

void enter_in_matrix(const std::string& fixture, const std::string& isolation,
                     const std::vector<std::string>& findings) {
  auto& all = lines();
  auto line = std::find_if(all.begin(), all.end(), [&](const auto& l) { return l.first == fixture; });
  if (line == all.end()) line = all.insert(all.end(), {fixture, {}});
  auto& texts = line->second[isolation];
  texts.insert(texts.end(), findings.begin(), findings.end());
}

std::string matrix_text() {
  if (lines().empty()) return "";
  std::ostringstream out;
  int cells = 0;
  int good = 0;
  out << "\nprocess  exec     pool     threads  daemon   fixture\n";
  for (const auto& [fixture, isolations] : lines()) {
    for (const char* isolation : {"process", "exec", "pool", "threads", "daemon"}) {
      std::string text = cell(isolations, isolation);
      text.resize(9, ' ');
      out << text;
    }
    out << fixture << '\n';
    for (const auto& [isolation, findings] : isolations) {
      ++cells;
      good += findings.empty() ? 1 : 0;
      for (const std::string& finding : findings) {
        out << "                           " << isolation << ": " << finding << '\n';
      }
    }
  }
  out << good << " of " << cells << " as expected\n";
  return out.str();
}

}  // namespace distrun::testing
