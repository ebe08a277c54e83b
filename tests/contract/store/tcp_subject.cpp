#include <distrun/runtime/store/tcp_store.hpp>

#include "store_contract.hpp"

namespace distrun::stores {
namespace {

class TcpSubject final : public Subject {
 public:
  std::shared_ptr<Store> open() override {
    return std::make_shared<TcpStore>("localhost", TcpStoreOptions{.port = server_.port(), .secret = "open sesame"});
  }

 private:
  TcpStore server_{"localhost", {.is_server = true, .secret = "open sesame"}};
};

}  // namespace

std::unique_ptr<Subject> make_subject() { return std::make_unique<TcpSubject>(); }

}  // namespace distrun::stores
