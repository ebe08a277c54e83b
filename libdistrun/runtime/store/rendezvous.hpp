#pragma once
// How ranks find each other: an address says where their store is.
//
//   file:///tmp/x/rendezvous?rank=1&world_size=4    a FileStore; the last rank that ends removes the file
//   tcp://host:29500?rank=1&world_size=4            a TcpStore, which rank 0 serves
//   env://                                          the same, at $MASTER_ADDR:$MASTER_PORT; $RANK, $WORLD_SIZE
//
// Rank and world size stand in the query of the address, else among the arguments; of env:// also in the environment.
#include <memory>
#include <optional>
#include <string>

#include <distrun/runtime/store/store.hpp>

namespace distrun::stores {

struct Rendezvous {
  std::shared_ptr<Store> store;
  int rank = 0;
  int world_size = 1;
};

// Waits for nobody but, where rank 0 serves, for that. Throws Error{InvalidArgument, "ValueError"} for an address that
// says too little, with what is missing, and whatever the store's constructor throws.
Rendezvous rendezvous(const std::string& url, std::optional<int> rank = {}, std::optional<int> world_size = {},
                      base::Nanoseconds timeout = Store::kTimeout);

}  // namespace distrun::stores
