#include "host.hpp"

#include <distrun/common/base/error.hpp>

namespace distrun::pmix {
namespace {

Host* the_host = nullptr;

pmix_status_t on_connected(const pmix_proc_t* rank, void*, pmix_info_t*, std::size_t, pmix_op_cbfunc_t, void*) {
  if (!the_host->child_of(*rank)) the_host->tell(wire::MpiFrame::Joined, rank->rank);
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_finalized(const pmix_proc_t* rank, void*, pmix_op_cbfunc_t, void*) {
  if (!the_host->child_of(*rank)) the_host->tell(wire::MpiFrame::Left, rank->rank);
  return PMIX_OPERATION_SUCCEEDED;
}

// The coordinator ends the other ranks. This one waits for the answer, so the coordinator knows why before it ends.
pmix_status_t on_abort(const pmix_proc_t* rank, void*, int status, const char*, pmix_proc_t*, std::size_t,
                       pmix_op_cbfunc_t, void*) {
  const auto child = the_host->child_of(*rank);
  the_host->tell(wire::MpiFrame::Aborted, child ? static_cast<pmix_rank_t>(child->rank) : rank->rank,
                 wire::MpiAborted{status, child ? child->program : ""});
  return PMIX_OPERATION_SUCCEEDED;
}

void release(void* data) { std::free(data); }

// All ranks are here, and have come: what they have contributed is all there is.
pmix_status_t on_fence(const pmix_proc_t*, std::size_t, const pmix_info_t*, std::size_t, char* data, std::size_t size,
                       pmix_modex_cbfunc_t done, void* context) {
  done(PMIX_SUCCESS, data, size, context, release, data);
  return PMIX_SUCCESS;
}

// libpmix knows all ranks of this machine, and asks only for others.
pmix_status_t on_modex(const pmix_proc_t*, const pmix_info_t*, std::size_t, pmix_modex_cbfunc_t, void*) {
  return PMIX_ERR_NOT_FOUND;
}

pmix_status_t on_publish(const pmix_proc_t* rank, const pmix_info_t info[], std::size_t count, pmix_op_cbfunc_t,
                         void*) {
  return the_host->published().publish(*rank, info, count);
}

pmix_status_t on_look_up(const pmix_proc_t*, char** keys, const pmix_info_t info[], std::size_t count,
                         pmix_lookup_cbfunc_t on_found, void* context) {
  return the_host->published().look_up(keys, info, count, on_found, context);
}

pmix_status_t on_unpublish(const pmix_proc_t* rank, char** keys, const pmix_info_t*, std::size_t, pmix_op_cbfunc_t,
                           void*) {
  the_host->published().unpublish(*rank, keys);
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_spawn(const pmix_proc_t* rank, const pmix_info_t*, std::size_t, const pmix_app_t* apps,
                       std::size_t count, pmix_spawn_cbfunc_t done, void* context) {
  if (Spawner* const spawner = the_host->spawner()) return spawner->request(*rank, apps, count, done, context);
  the_host->tell(wire::MpiFrame::Refused, rank->rank, wire::MpiRefused{"MPI_Comm_spawn"});
  return PMIX_ERR_NOT_SUPPORTED;
}

// libpmix calls these two when all ranks that take part have come.
pmix_status_t on_connect(const pmix_proc_t*, std::size_t, const pmix_info_t*, std::size_t, pmix_op_cbfunc_t, void*) {
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_group(pmix_group_operation_t what, char*, const pmix_proc_t*, std::size_t, const pmix_info_t*,
                       std::size_t, pmix_info_cbfunc_t done, void* context) {
  if (what != PMIX_GROUP_CONSTRUCT) {
    done(PMIX_SUCCESS, nullptr, 0, context, nullptr, nullptr);
    return PMIX_SUCCESS;
  }
  pmix_info_t* answer = nullptr;
  PMIX_INFO_CREATE(answer, 1);
  std::size_t number = the_host->next_group();
  PMIX_INFO_LOAD(answer, PMIX_GROUP_CONTEXT_ID, &number, PMIX_SIZE);
  done(
      PMIX_SUCCESS, answer, 1, context, [](void* info) { PMIX_INFO_FREE(*reinterpret_cast<pmix_info_t**>(&info), 1); },
      answer);
  return PMIX_SUCCESS;
}

// Ranks may ask to be notified; libpmix itself does that for what it sees.
pmix_status_t on_register_events(pmix_status_t*, std::size_t, const pmix_info_t*, std::size_t, pmix_op_cbfunc_t,
                                 void*) {
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_deregister_events(pmix_status_t*, std::size_t, pmix_op_cbfunc_t, void*) {
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_event(pmix_status_t, const pmix_proc_t*, pmix_data_range_t, pmix_info_t*, std::size_t,
                       pmix_op_cbfunc_t, void*) {
  return PMIX_OPERATION_SUCCEEDED;
}

}  // namespace

Host::Host(wire::FrameLine& line) : line_(line) { the_host = this; }

pmix_server_module_t Host::module() const {
  pmix_server_module_t functions{};
  functions.client_connected2 = on_connected;
  functions.client_finalized = on_finalized;
  functions.abort = on_abort;
  functions.fence_nb = on_fence;
  functions.direct_modex = on_modex;
  functions.publish = on_publish;
  functions.lookup = on_look_up;
  functions.unpublish = on_unpublish;
  functions.spawn = on_spawn;
  functions.connect = on_connect;
  functions.disconnect = on_connect;
  functions.group = on_group;
  functions.register_events = on_register_events;
  functions.deregister_events = on_deregister_events;
  functions.notify_event = on_event;
  return functions;
}

void Host::send(const wire::Bytes& packed) {
  const std::lock_guard lock(mutex_);
  try {
    line_.send(packed);
  } catch (const Error&) {
    // The main thread sees the closed line, too.
  }
}

}  // namespace distrun::pmix
