#include <distrun/runtime/store/hash_store.hpp>

#include "store_contract.hpp"

namespace distrun::stores {
namespace {

class PrefixSubject final : public Subject {
 public:
  std::shared_ptr<Store> open() override { return std::make_shared<PrefixStore>("group", store_); }
  std::string prefix() const override { return "group/"; }

 private:
  std::shared_ptr<Store> store_ = std::make_shared<HashStore>();
};

}  // namespace

std::unique_ptr<Subject> make_subject() { return std::make_unique<PrefixSubject>(); }

}  // namespace distrun::stores
