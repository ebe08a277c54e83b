#include <catch2/catch.hpp>

#include <string>

#include "python/mix.hpp"

using namespace distrun::probe::python;

namespace {

// Native frames: L loop, i interpreter, n other.
std::vector<NativeKind> native(const std::string& text) {
  std::vector<NativeKind> kinds;
  for (const char c : text) {
    kinds.push_back(c == 'L' ? NativeKind::Loop : c == 'i' ? NativeKind::Interpreter : NativeKind::Other);
  }
  return kinds;
}

// Python frames: E entry, p other.
std::vector<bool> python(const std::string& text) {
  std::vector<bool> entries;
  for (const char c : text) entries.push_back(c == 'E');
  return entries;
}

// Native frames by letters, from a on; Python frames by digits.
std::string text_of(const std::vector<MixedFrame>& frames) {
  std::string text;
  for (const MixedFrame& frame : frames)
    text += static_cast<char>((frame.is_python ? '0' : 'a') + static_cast<char>(frame.index));
  return text;
}

std::string mixed(const std::string& natives, const std::string& pythons, bool incomplete = false) {
  return text_of(mix({native(natives), {}, false, incomplete}, {python(pythons), {}, false, false}).inner);
}

}  // namespace

TEST_CASE("Python frames take the place of the loop, and what connects them is left out") {
  CHECK(mixed("niLiiLin", "EE") == "ab01h");
  CHECK(mixed("LiL", "EE") == "01");
}

TEST_CASE("one call of the loop may run several Python frames") { CHECK(mixed("niLin", "ppE") == "ab012e"); }

TEST_CASE("libraries between Python frames stay between them") { CHECK(mixed("niLinniLn", "pEE") == "ab01ef2i"); }

TEST_CASE("the outermost frames fit together if a thread is about to enter or leave a function") {
  CHECK(mixed("LniLi", "E") == "b0");
  CHECK(mixed("nLni", "EE") == "a01c");
}

TEST_CASE("without the outermost native frame the innermost ones fit together") {
  CHECK(mixed("LnL", "EEE", true) == "0b12");
}

TEST_CASE("where no function is known as the loop, Python frames stand together") {
  CHECK(mixed("niinii", "EE") == "abcde01");
  CHECK(mixed("nn", "E") == "ab0");
}

TEST_CASE("frames of Python may be missing in the middle, with all native frames there") {
  const auto result = mix({native("niLn"), {}, false, false}, {python("pp"), python("pE"), true, false});
  CHECK(result.gap);
  CHECK(text_of(result.inner) == "ab01");
  CHECK(text_of(result.outer) == "23d");
}

TEST_CASE("if both have a gap, each end is mixed separately") {
  const auto result = mix({native("nLiL"), native("iLnLn"), true, false}, {python("EEE"), python("EE"), true, false});
  CHECK(result.gap);
  CHECK(text_of(result.inner) == "a012");
  CHECK(text_of(result.outer) == "3g4i");
}
