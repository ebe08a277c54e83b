#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <distrun/runner/evidence/stacks/tree_text.hpp>

#include "samples.hpp"

using namespace distrun::evidence;
namespace fs = std::filesystem;

namespace {

// Returns the text with visible tones: *strong*, ~dim~, !warn!.
std::string marked(const std::vector<Line>& lines) {
  std::string text;
  for (const Line& line : lines) {
    for (const Segment& segment : line.segments) {
      const std::string mark(segment.tone == Tone::Plain ? "" : std::string(1, "?*~!"[static_cast<int>(segment.tone)]));
      text += mark;
      text += segment.text;
      text += mark;
    }
    text += "\n";
  }
  return text;
}

void check_golden(const std::string& name, const Stacks& stacks) {
  const fs::path folder = DISTRUN_GOLDEN_DIR;
  const StackTree tree = merge(stacks);
  const std::vector<Line> lines = tree_text(stacks, tree);
  const std::string now = plain(lines) + "\n" + marked(lines);
  const char* update = std::getenv("DISTRUN_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    fs::create_directories(folder);
    std::ofstream(folder / name, std::ios::binary) << now;
  }
  std::ifstream file(folder / name, std::ios::binary);
  const std::string golden{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  INFO("DISTRUN_UPDATE_GOLDEN=1 rewrites tests/golden/evidence/" << name);
  CHECK(golden == now);
}

}  // namespace

TEST_CASE("a rank that reads while the others wait for it is shown first") {
  check_golden("one_in_read.txt", samples::one_in_read());
}

TEST_CASE("threads that hold each other's lock are shown together") { check_golden("abba.txt", samples::abba()); }

TEST_CASE("threads that wait for each other are apart from those that wait for one of them") {
  check_golden("lock_cycle.txt", samples::lock_cycle());
}

TEST_CASE("a rank that spins is grouped with the others by their callers") {
  check_golden("one_spins.txt", samples::one_spins());
}

TEST_CASE("a thread without a stack shows the kernel's information") {
  check_golden("one_in_kernel.txt", samples::one_in_kernel());
}

TEST_CASE("many ranks that hang alike take a few lines") {
  const Stacks stacks = samples::alike(64, 16);
  check_golden("alike.txt", stacks);
  CHECK(tree_text(stacks, merge(stacks)).size() < 40);
}

TEST_CASE("ranks that all differ are shown rank by rank") {
  check_golden("all_different.txt", samples::all_different());
}

TEST_CASE("recursion is shown once") { check_golden("recursion.txt", samples::recursion()); }

TEST_CASE("inlined functions are marked") { check_golden("inlined.txt", samples::inlined()); }

TEST_CASE("code without names is shown with module and offset") { check_golden("stripped.txt", samples::stripped()); }

TEST_CASE("hostile names stay text") { check_golden("hostile.txt", samples::hostile()); }

TEST_CASE("crashes, gaps, lost ends and missing answers are shown") {
  check_golden("without_answers.txt", samples::without_answers());
}
