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

struct Rendezvous {
  std::shared_ptr<Store> store;
  int rank = 0;
  int world_size = 1;
};

// Blocks only until rank 0 serves its TcpStore. Throws Error{InvalidArgument, "ValueError"}, with what is missing, for
// an incomplete address; and what the store's constructor throws.
Rendezvous rendezvous(const std::string& url, std::optional<int> rank = {}, std::optional<int> world_size = {},
                      base::Nanoseconds timeout = Store::kTimeout);

}  // namespace distrun::stores
