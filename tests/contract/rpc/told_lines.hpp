#pragma once
// Checks the lines of a company's members: at least one from each, and the last one of each survivor must be that of
// its end.
#include <catch2/catch.hpp>

#include <map>
#include <string>

#include "members.hpp"

namespace distrun::rpc::testing {

template <class Check>
void check_told(const Lines& lines, std::size_t members, const std::string& end, const Check& check) {
  std::string all;
  for (const std::string& each : lines) all += "\n  " + each;
  INFO("all lines:" << all);
  std::map<char, std::string> last;
  for (const std::string& line : lines) {
    const Timed came = timed_of(line.substr(2));
    CAPTURE(line);
    check(came);
    last[line[0]] = came.phase;
  }
  CHECK(last.size() == members);
  for (const auto& [rank, phase] : last) CHECK(phase == end);
}

}  // namespace distrun::rpc::testing
