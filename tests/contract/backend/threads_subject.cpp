#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/collectives/backends.hpp>
#include <distrun/runtime/store/hash_store.hpp>

#include "backend_contract.hpp"
#include "group_of.hpp"
#include "unit/core/fake_rank_line.hpp"

namespace distrun::collectives {

bool letters_have_tags() { return true; }

std::vector<std::string> run_ranks(int ranks, const Body& body) {
  HashStore store;
  std::vector<std::string> thrown(static_cast<std::size_t>(ranks));
  {
    std::vector<base::Thread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
      threads.emplace_back("rank", [&, rank] {
        const testing::FakeRank fake;
        thrown[static_cast<std::size_t>(rank)] = what_it_throws("threads", group_of(rank, ranks), store, body);
      });
    }
  }
  return thrown;
}

}  // namespace distrun::collectives
