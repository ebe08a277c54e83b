#include <distrun/common/wire/error_fields.hpp>

#include <catch2/catch.hpp>

using namespace distrun;
using base::Error;
using base::ErrorKind;

TEST_CASE("an error's kind, type and text are read as they were written") {
  const wire::Bytes bytes = wire::encode(wire::error_fields(Error(ErrorKind::Timeout, "DistStoreError", "too late")));
  const auto fields = wire::decode<wire::ErrorFields>(wire::view_of(bytes));
  CHECK(wire::error_kind(fields.kind) == ErrorKind::Timeout);
  CHECK(fields.type == "DistStoreError");
  CHECK(fields.text == "too late");
}

TEST_CASE("an error of an unknown kind has failed") {
  CHECK(wire::error_kind(static_cast<std::uint8_t>(ErrorKind::Unimplemented)) == ErrorKind::Unimplemented);
  CHECK(wire::error_kind(static_cast<std::uint8_t>(ErrorKind::Unimplemented) + 1) == ErrorKind::Failed);
  CHECK(wire::error_kind(255) == ErrorKind::Failed);
}
