#pragma once
// Helpers shared by the sources of make_corpus.
#include <string>

#include <distrun/common/wire/buffer.hpp>

namespace distrun::fuzz {

// Writes a file of the corpus: "greeting/hello".
void write(const std::string& name, const wire::Bytes& bytes, const std::string& before = "");

// Handshakes of workers, and with a store's server.
void write_handshakes();

// What a rank on another host sends into a group.
void write_mirror();

}  // namespace distrun::fuzz
