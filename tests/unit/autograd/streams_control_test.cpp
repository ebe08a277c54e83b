// Negative control of the random programs over streams: they must detect each fault of streams.mutations, of one line
// each, in the programs that the list names, within some seeds. Each is run in a child: the check of stream order
// reports a finding once per process, and a hundred at most.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include "../support/forked.hpp"
#include "stream_programs.hpp"
#include "support/order_reports.hpp"

namespace distrun::testing {
namespace {

constexpr std::uint32_t kSeeds = 40;

struct Mutation {
  std::string name;
  std::set<std::string> seen_by;
};

std::vector<Mutation> read_mutations() {
  std::vector<Mutation> mutations;
  std::ifstream list(DISTRUN_MUTATIONS);
  for (std::string line; std::getline(list, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "mutation") {
      std::getline(words >> std::ws, word, ':');
      mutations.push_back({word, {}});
    } else if (word == "seen") {
      words >> word;  // "by"
      while (words >> word) mutations.back().seen_by.insert(word);
    }
  }
  return mutations;
}

class Telling {
 public:
  explicit Telling(const std::string& mutation) { ::setenv("DISTRUN_MUTATION", mutation.c_str(), 1); }
  ~Telling() { ::unsetenv("DISTRUN_MUTATION"); }
};

bool are_same(const TensorList& got, const TensorList& expected) {
  return std::equal(got.begin(), got.end(), expected.begin(), expected.end(),
                    [](const Tensor& a, const Tensor& b) { return equal(a, b); });
}

// Returns what is wrong with the program; empty: nothing.
std::string wrong_with(const StreamProgram& program, std::uint32_t seed, const std::string& mutation) {
  const OrderReports reports;
  const TensorList expected = program.run(seed, Streams::Default);
  TensorList got;
  {
    const Telling telling(mutation);
    got = program.run(seed, Streams::Random);
  }
  if (std::string text = reports.text(); !text.empty()) return text;
  return are_same(got, expected) ? "" : "other gradients\n";
}

// Returns the first finding, with its seed; empty: none.
std::string found_by(const StreamProgram& program, const std::string& mutation) {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    const std::string wrong = wrong_with(program, seed, mutation);
    if (!wrong.empty()) return "seed " + std::to_string(seed) + ": " + wrong.substr(0, wrong.find('\n'));
  }
  return "";
}

constexpr int kFound = 0, kNotFound = 1;

int search_in_child(const StreamProgram& program, const std::string& mutation) {
  return in_child([&] {
           const std::string found = found_by(program, mutation);
           if (found.empty()) return kNotFound;
           std::cout << mutation << ": " << program.name << ", " << found << std::endl;
           return kFound;
         })
      .code;
}

}  // namespace

TEST_CASE("random programs over streams detect each mutation") {
  for (const Mutation& mutation : read_mutations()) {
    INFO(mutation.name);
    CHECK_FALSE(mutation.seen_by.empty());
    std::set<std::string> known;
    for (const StreamProgram& program : kStreamPrograms) {
      known.insert(program.name);
      if (!mutation.seen_by.contains(program.name)) continue;
      INFO(program.name);
      CHECK(search_in_child(program, mutation.name) == kFound);
    }
    CHECK(std::includes(known.begin(), known.end(), mutation.seen_by.begin(), mutation.seen_by.end()));
  }
}

TEST_CASE("random programs over streams find nothing wrong without a mutation") {
  for (const StreamProgram& program : kStreamPrograms) {
    INFO(program.name);
    CHECK(search_in_child(program, "") == kNotFound);
  }
}

}  // namespace distrun::testing
