#pragma once

#include <cstdint>
#include <string>

namespace stackpack::spk {

struct WriterOptions {
  int level = 9;        ///< zstd level, 1..22
  bool samples = true;  ///< false: keep counts per (stack, event, process, origin) instead
  /// Most bytes for the table of edges while the callstacks are written; 0: no limit. Beyond, it
  /// goes to scratch files in `scratch_directory`.
  std::uint64_t table_bytes = 0;
  /// Most bytes for the counts that are kept in place of samples; 0: no limit. Beyond, they go to a
  /// scratch file in `scratch_directory`.
  std::uint64_t count_bytes = 0;
  std::string scratch_directory = ".";
  /// Threads besides the calling one, not seen in the file: this many encode samples and, with one
  /// or more, another one compresses pages before.
  unsigned threads = 0;
};

}  // namespace stackpack::spk
