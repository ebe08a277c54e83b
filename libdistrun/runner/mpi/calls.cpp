#include <distrun/runner/mpi/calls.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace distrun::mpi {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kPrefix = "MPI_";

// Beginnings of names: those of one family wait alike.
constexpr std::array kCollectives{
    "MPI_Allgather"sv,        "MPI_Allreduce"sv,         "MPI_Alltoall"sv,     "MPI_Barrier"sv,    "MPI_Bcast"sv,
    "MPI_Cart_create"sv,      "MPI_Cart_sub"sv,          "MPI_Comm_create"sv,  "MPI_Comm_dup"sv,   "MPI_Comm_free"sv,
    "MPI_Comm_split"sv,       "MPI_Dist_graph_create"sv, "MPI_Exscan"sv,       "MPI_File_close"sv, "MPI_File_open"sv,
    "MPI_File_read_all"sv,    "MPI_File_write_all"sv,    "MPI_Finalize"sv,     "MPI_Gather"sv,     "MPI_Graph_create"sv,
    "MPI_Intercomm_create"sv, "MPI_Intercomm_merge"sv,   "MPI_Neighbor_all"sv, "MPI_Reduce"sv,     "MPI_Scan"sv,
    "MPI_Scatter"sv,          "MPI_Win_allocate"sv,      "MPI_Win_create"sv,   "MPI_Win_fence"sv,  "MPI_Win_free"sv,
};
// They begin like collectives, but are local.
constexpr std::array kLocal{"MPI_Reduce_local"sv,     "MPI_Comm_create_errhandler"sv, "MPI_Comm_create_keyval"sv,
                            "MPI_Comm_free_keyval"sv, "MPI_Win_create_errhandler"sv,  "MPI_Win_create_keyval"sv,
                            "MPI_Win_free_keyval"sv};

// Functions of Open MPI to which its MPI_Init and MPI_Finalize jump, so that these are on no stack.
struct Inner {
  std::string_view function;
  std::string_view call;
};
constexpr std::array kInner{Inner{"ompi_mpi_init", "MPI_Init"}, Inner{"ompi_mpi_finalize", "MPI_Finalize"}};

// Returns "MPI_Barrier" for "PMPI_Barrier" and "MPI_Barrier"; empty for other functions.
std::string_view mpi_name(std::string_view function) {
  function = function.substr(0, function.find('('));
  for (const Inner& inner : kInner) {
    if (function == inner.function) return inner.call;
  }
  if (function.starts_with("PMPI_")) function.remove_prefix(1);
  const bool is_call = function.starts_with(kPrefix) && function.size() > kPrefix.size() &&
                       std::isupper(static_cast<unsigned char>(function[kPrefix.size()])) != 0;
  return is_call ? function : std::string_view{};
}

}  // namespace

Call call_of(const wire::ThreadStack& thread, const std::vector<wire::StackFrame>& table) {
  Call call;
  for (auto frame = thread.frames.rbegin(); frame != thread.frames.rend(); ++frame) {
    const wire::StackFrame& function = table[*frame];
    if (const std::string_view name = mpi_name(function.function); !name.empty()) {
      call.name = name;
      return call;
    }
    if (!function.file.empty()) {  // so far the innermost that may have called MPI
      call.file = function.file;
      call.line = function.line;
    }
  }
  return {};
}

bool is_collective(const std::string& call) {
  const auto begins = [&call](std::string_view name) { return call.starts_with(name); };
  const bool is_local = std::find(kLocal.begin(), kLocal.end(), call) != kLocal.end();
  return !is_local && std::any_of(kCollectives.begin(), kCollectives.end(), begins);
}

}  // namespace distrun::mpi
