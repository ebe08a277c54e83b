#pragma once
// Collectives of values that are not tensors: all types that common/wire can encode (numbers, texts, vectors, structs
// with DISTRUN_FIELDS). The values may differ in size between ranks. Received bytes are fully checked when decoded and
// never executed. Throws what the collectives throw, and Error{InvalidArgument} for bytes that do not decode.
#include <string>
#include <vector>

#include <distrun/common/wire/codec.hpp>
#include <distrun/runtime/collectives/process_group.hpp>

namespace distrun::collectives {

// Returns the bytes of all ranks, by group rank.
std::vector<wire::Bytes> all_gather_bytes(ProcessGroup& group, const wire::Bytes& own, base::Location site);
// Returns the root's bytes.
wire::Bytes broadcast_bytes(ProcessGroup& group, const wire::Bytes& own, int root, base::Location site);
// Returns the bytes of all ranks on the root, nothing on the others.
std::vector<wire::Bytes> gather_bytes(ProcessGroup& group, const wire::Bytes& own, int root, base::Location site);
// Returns this rank's part of what the root passes: one for each rank.
wire::Bytes scatter_bytes(ProcessGroup& group, const std::vector<wire::Bytes>& all, int root, base::Location site);

// Decodes each value. Throws Error{InvalidArgument} for bytes that are no T.
template <class T>
std::vector<T> decode_all(const std::vector<wire::Bytes>& all) {
  std::vector<T> values;
  for (const wire::Bytes& each : all) values.push_back(wire::decode<T>(wire::view_of(each)));
  return values;
}

// Returns the values by group rank.
template <class T>
std::vector<T> all_gather_object(ProcessGroup& group, const T& own, base::Location site = base::Location::here()) {
  return decode_all<T>(all_gather_bytes(group, wire::encode(own), site));
}
// Returns the root's value; `own` is ignored on other ranks.
template <class T>
T broadcast_object(ProcessGroup& group, const T& own, int root = 0, base::Location site = base::Location::here()) {
  const wire::Bytes bytes = group.rank() == root ? wire::encode(own) : wire::Bytes();
  return wire::decode<T>(wire::view_of(broadcast_bytes(group, bytes, root, site)));
}
// Returns the values by group rank on the root, nothing on the others.
template <class T>
std::vector<T> gather_object(ProcessGroup& group, const T& own, int root = 0,
                             base::Location site = base::Location::here()) {
  return decode_all<T>(gather_bytes(group, wire::encode(own), root, site));
}
// Returns this rank's value. The root passes one value for each rank; the others pass none.
template <class T>
T scatter_object(ProcessGroup& group, const std::vector<T>& all, int root = 0,
                 base::Location site = base::Location::here()) {
  std::vector<wire::Bytes> bytes;
  for (const T& each : all) bytes.push_back(wire::encode(each));
  return wire::decode<T>(wire::view_of(scatter_bytes(group, bytes, root, site)));
}

}  // namespace distrun::collectives
