#include <distrun/runner/mpi/linked_mpi.hpp>

#include <cstdlib>

#include <array>
#include <deque>
#include <set>
#include <string_view>

#include <distrun/common/base/elf_file.hpp>
#include <distrun/runner/mpi/library_path.hpp>

namespace distrun::mpi {
namespace {

constexpr std::size_t kLibrariesMax = 2000;  // that are looked at

bool begins_with_any(std::string_view library, const auto& names) {
  for (const std::string_view name : names) {
    if (library.starts_with(name)) return true;
  }
  return false;
}

}  // namespace

// MPICH and the MPIs that have its binary interface share the name libmpi.so.12 (https://www.mpich.org/abi).
Linked linked_by(const std::string& library) {
  using namespace std::string_view_literals;
  constexpr std::array kAlone{"libmpi.so.12"sv,    "libmpich.so"sv,    "libmpifort.so.12"sv,
                              "libmpicxx.so.12"sv, "libmpichcxx.so"sv, "libmpichfort.so"sv};
  constexpr std::array kJoins{"libmpi.so"sv, "libmpi_mpifh.so"sv, "libmpi_usempi"sv, "libmpi_cxx.so"sv, "libpmix.so"sv};
  if (begins_with_any(library, kAlone)) return Linked::Alone;
  return begins_with_any(library, kJoins) ? Linked::Joins : Linked::None;
}

// An MPICH that was built with PMIx needs libpmix.
LinkedMpi find_mpi(const std::string& program, const std::string& library_path) {
  const LibraryPath path(library_path);
  LinkedMpi found;
  std::set<std::string> known;
  std::deque<std::string> files{program};
  for (; !files.empty() && known.size() < kLibrariesMax; files.pop_front()) {
    const base::ElfFile file(files.front().c_str());
    const std::string run_path = file.run_path();
    for (const std::string& library : file.needed()) {
      if (!known.insert(library).second) continue;
      const Linked how = linked_by(library);
      if (how == Linked::Joins) return {how, library};
      if (how == Linked::Alone && found.how == Linked::None) found = {how, library};
      if (const std::string next = path.find(library, files.front(), run_path); !next.empty()) files.push_back(next);
    }
  }
  return found;
}

std::string library_path_of(const runner::Settings& settings) {
  const char* const own = std::getenv("LD_LIBRARY_PATH");
  std::string value = own != nullptr ? own : "";
  for (const wire::KeyValue& pair : settings.env) {
    if (pair.key == "LD_LIBRARY_PATH") value = pair.value;
  }
  return value;
}

}  // namespace distrun::mpi
