// Reads an .etl file in memory into plain containers, for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "formats/etl/etl_source.h"
#include "io/byte_source.h"
#include "support/collecting_sink.h"
#include "support/etl_writer.h"

namespace stackpack::test {

// Where the kernel and the modules of a process are in the traces that the tests make.
inline constexpr std::uint64_t kK = 0xFFFFF80000000000;
inline constexpr std::uint64_t kU = 0x7FF600000000;

struct EtlReading {
  CollectingSink sink;
  etl::TraceSummary summary;
  bool failed = false;
  Error error{};
  capture::ByteAccount account;

  [[nodiscard]] std::map<std::string, std::uint64_t> listing() const { return sink.listing(); }
  [[nodiscard]] std::uint64_t loss(std::string_view name) const {
    return sink.counters.count(name);
  }
  [[nodiscard]] bool accounted() const { return account.balanced(); }
};

inline std::unique_ptr<EtlReading> read_etl(std::span<const std::byte> file,
                                            etl::ReadOptions options = {}) {
  auto reading = std::make_unique<EtlReading>();
  options.summary = &reading->summary;
  const auto source = io::source_of_memory(file);
  const auto result = etl::read_capture(*source, reading->sink, options);
  if (result) {
    reading->account = *result;
  } else {
    reading->failed = true;
    reading->error = result.error();
  }
  return reading;
}

/// Writes a field of a file; the file is that long.
inline void put_u32(std::vector<std::byte>& bytes, std::size_t at, std::uint32_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// The bytes of the file that `write` makes.
inline std::vector<std::byte> make_etl(const EtlOptions& options,
                                       const std::function<void(EtlWriter&)>& write) {
  std::ostringstream stream(std::ios::binary);
  EtlWriter writer(stream, options);
  write(writer);
  writer.finish();
  const std::string text = stream.str();
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace stackpack::test
