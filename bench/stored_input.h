#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks.h"
#include "dag/frozen_dag.h"
#include "spk/write/writer.h"
#include "stackpack/model.h"
#include "stackpack/reader.h"
#include "stackpack/stats.h"

namespace stackpack::bench {

/// The input stream as the writer gets it.
struct StoredInput {
  dag::FrozenDag dag;
  std::vector<StackId> ids;           ///< per entry of the stream
  std::vector<StoredSample> samples;  ///< in order of time
  std::vector<std::size_t> by_id;     ///< per stack id an entry of the stream that has it
};

/// Made once and kept. No ids when the stream cannot be interned.
const StoredInput& stored_input(const Settings& settings);

/// A .spk file in memory.
struct SpkFile {
  std::vector<std::byte> bytes;
  Statistics statistics;
  std::vector<SectionInfo> sections;
  double samples_ns = 0;  ///< processor time of all threads that the samples took

  [[nodiscard]] std::uint64_t stored_bytes(const std::string& section) const;
  [[nodiscard]] std::uint64_t raw_bytes(const std::string& section) const;
  /// All that is needed on disk to decode callstacks.
  [[nodiscard]] std::uint64_t dag_bytes() const;
  /// Never fails: the file was opened before.
  [[nodiscard]] std::unique_ptr<Reader> open(std::uint64_t cache_bytes) const;
};

enum class Samples : std::uint8_t { kWritten, kLeftOut };

/// Writes the input with our writer; no bytes when that fails.
SpkFile write_file(const StoredInput& input, int level, Samples samples);

}  // namespace stackpack::bench
