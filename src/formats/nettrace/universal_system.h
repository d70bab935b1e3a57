// What recorders of native code say of processes, mappings and symbols: events of the provider
// Universal.System (record-trace, dotnet-trace collect-linux).
//
//   ExistingProcess, ProcessCreate   varint pid in its namespace, text name, text namespace
//   ProcessExit                      nothing
//   ProcessMapping                   varint id, [varint process, where the event has such a field],
//                                    varint start, varint end (not in it), varint file offset, text
//                                    file, varint id of what is known of the file
//   ProcessSymbol                    varint id, varint mapping, varint start, varint end (in it),
//   text ProcessMappingMetadata           varint id, text JSON, text
//
// A text is u16 size and UTF-8. Source: UniversalProviders.md of microsoft/perfview.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bytes/byte_cursor.h"
#include "capture/loss_counters.h"
#include "capture/system_recorder.h"
#include "formats/nettrace/metadata.h"
#include "formats/nettrace/trace_header.h"
#include "stackpack/model.h"

namespace stackpack::nettrace {

/// Addresses from here on are the kernel's, in files with pointers of 8 bytes.
inline constexpr std::uint64_t kFirstKernelAddress = 0xFFFF000000000000;

/// Tells the sink's system what these events say.
///
/// Memory: 100 bytes and the path for each of kMostMappings, 64 bytes for each of kMostSymbols that
/// share their start with another one or come before their mapping.
class UniversalSystem {
 public:
  static constexpr std::size_t kMostMappings = std::size_t{1} << 20;
  static constexpr std::size_t kMostSymbols = std::size_t{1} << 20;

  UniversalSystem(const TraceHeader& header, capture::SystemRecorder& system,
                  capture::LossCounters& losses)
      : header_(header), system_(system), losses_(losses) {}

  /// One event of that provider in process `pid`. False: its payload cannot be read.
  bool event(const EventMetadata& metadata, std::uint32_t pid, std::uint64_t ticks,
             bytes::ByteCursor payload);

  /// Symbols that came before their mapping. Once, in the end.
  void finish();

 private:
  struct Symbol {
    std::uint64_t mapping = 0;
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint64_t ticks = 0;
    std::string name;
  };
  bool process(std::uint32_t pid, bytes::ByteCursor& in);
  bool mapping(const EventMetadata& metadata, std::uint32_t pid, std::uint64_t ticks,
               bytes::ByteCursor& in);
  bool add_owner(std::uint64_t mapping, std::uint32_t pid);
  bool symbol(std::uint64_t ticks, bytes::ByteCursor& in);
  bool mapping_metadata(bytes::ByteCursor& in);
  void add_symbol(const Symbol& symbol, std::uint32_t pid);

  const TraceHeader& header_;
  capture::SystemRecorder& system_;
  capture::LossCounters& losses_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> owners_;  // of mappings
  std::unordered_map<std::uint64_t, std::vector<std::uint8_t>> build_ids_;
  std::unordered_map<std::uint64_t, std::vector<std::string>> paths_;  // that wait for build ids
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> ends_;  // by owner and start
  std::vector<Symbol> early_;
  std::string kernel_path_;
};

}  // namespace stackpack::nettrace
