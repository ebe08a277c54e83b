#include <distrun/runtime/store/rank_store.hpp>

#include <cstdlib>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/store/file_store.hpp>

namespace distrun::stores {

std::shared_ptr<Store> rank_store() {
  const char* const path = std::getenv("DISTRUN_STORE");
  if (path == nullptr || *path == '\0') {
    throw Error(ErrorKind::Unimplemented,
                "there is no store of a test, since $DISTRUN_STORE is not set: distrun sets it only for ranks that it "
                "starts; use rendezvous() in other processes");
  }
  return std::make_shared<FileStore>(path);
}

}  // namespace distrun::stores
