#pragma once
// How ranks find each other: by an address that says where their store is.
//
//   file:///tmp/x/rendezvous?rank=1&world_size=4    a FileStore; the last rank that ends removes the file
//   tcp://host:29500?rank=1&world_size=4            a TcpStore, which rank 0 serves
//   env://                                          the same, at $MASTER_ADDR:$MASTER_PORT; $RANK, $WORLD_SIZE
//
// Rank and world size are given in the address's query or as arguments; for env:// also in the environment.
#include <memory>
#include <optional>
#include <string>

#include <distrun/runtime/store/store.hpp>

namespace distrun::stores {

// What an address says.
struct Rendezvous {
  std::shared_ptr<Store> store;  // open
  int rank = 0;                  // of this process
  int world_size = 1;            // of all
};

// Opens the store of an address. Waits only for rank 0, where that serves the store. Throws Error{InvalidArgument,
// "ValueError"} for an address that says too little, with what is missing, and what the store's constructor throws.
Rendezvous rendezvous(const std::string& url, std::optional<int> rank = {}, std::optional<int> world_size = {},
                      base::Nanoseconds timeout = Store::kTimeout);

}  // namespace distrun::stores
