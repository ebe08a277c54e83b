// Backends with ranks that are processes; DISTRUN_CONTRACT_BACKEND selects the backend.
#include <distrun/runtime/store/file_store.hpp>

#include "backend_contract.hpp"
#include "group_of.hpp"
#include "rank_processes.hpp"
#include "support/skip.hpp"

namespace distrun::collectives {

bool letters_have_tags() { return true; }

std::vector<std::string> run_ranks(int ranks, const Body& body) {
  const std::string why_not = why_no_backend(DISTRUN_CONTRACT_BACKEND);
  testing::skip_case_if(!why_not.empty(), why_not);
  return run_processes(ranks, [&](int rank, const std::string& path) {
    FileStore store(path);
    return what_it_throws(DISTRUN_CONTRACT_BACKEND, group_of(rank, ranks), store, body);
  });
}

}  // namespace distrun::collectives
