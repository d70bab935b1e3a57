#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stackpack/convert.h"
#include "stackpack/result.h"
#include "symbolize/symbol_files.h"

namespace stackpack::app {

/// The first of `places` that is a file and no bundle, and why.
struct BadBundle {
  std::string path;
  Error error;
};
std::optional<BadBundle> find_bad_bundle(const std::vector<std::string>& places);

struct CollectOptions {
  symbolize::SymbolPlaces places;  ///< besides perf's cache and the recorded paths
  std::string format;              ///< of captures, as ConvertOptions::format
  bool force = false;              ///< replace an existing file; never one that is read
};

/// What became of one image.
struct CollectedImage {
  std::string path;
  std::string build_id;            ///< hex; empty: not recorded
  std::string found;               ///< the file; empty: none
  std::string debug_file;          ///< the one with what was stripped from it
  std::uint64_t bundle_bytes = 0;  ///< of its entry; 0: it has none
  std::uint64_t file_bytes = 0;    ///< of its files
  bool has_tables = false;
  bool has_symbols = false;
  std::string reason;  ///< why it is not in the bundle, or not whole
};

struct CollectReport {
  std::vector<CollectedImage> images;  ///< those that are missing first, then by path
  std::uint64_t collected = 0;
  std::uint64_t missing = 0;           ///< no file with its build id was found
  std::uint64_t without_build_id = 0;  ///< the capture does not say which file was meant
  std::uint64_t not_elf = 0;       ///< mapped files that are no ELF files of 64 bits: data, mostly
  std::uint64_t bundle_bytes = 0;  ///< of the archive
  std::uint64_t file_bytes = 0;
};

/// Writes the archive `output` with what unwinding and naming the captures and .spk files `inputs`
/// elsewhere takes: unwind tables and symbol tables of the images whose files are here, by build
/// id. The same inputs and files give the same bytes. It appears whole or not at all, and takes the
/// place of no file that is read for it: neither an input, nor a bundle or image among the places.
/// Memory: tables and symbols of one image at a time.
/// Errors: those of convert() and Reader::open for an input, Error::part its number; of an output;
///         kCancelled. `progress` may be null.
Result<CollectReport> collect_bundle(const std::vector<std::string>& inputs,
                                     const std::string& output, const CollectOptions& options,
                                     ConvertProgress* progress);

}  // namespace stackpack::app
