// An archive of unwind tables and symbols by build id, as `stackpack collect` makes it. It comes
// from elsewhere and is not trusted: names of entries are compared and never used as paths, sizes
// are bounded before memory is taken, and an entry is what its own build id says or nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codec/zip_archive.h"
#include "io/byte_source.h"
#include "io/descriptor.h"
#include "stackpack/result.h"

namespace stackpack::symbolize {

/// The name of the entry for a build id: as in folders of debug files, so that an unpacked bundle
/// is such a folder.
std::string bundle_entry_name(std::span<const std::uint8_t> build_id);

/// Threads: one at a time.
class SymbolBundle {
 public:
  /// Of the largest file known the tables and symbols have 60 MB.
  static constexpr std::uint64_t kMostEntryBytes = std::uint64_t{256} << 20;
  static constexpr std::size_t kMostEntries = std::size_t{1} << 16;

  /// Whether `head` is how a bundle begins; one without entries begins otherwise than other
  /// archives.
  static bool looks_like_bundle(std::span<const std::byte> head);

  /// Errors: kNotFound, kIo; kUnsupported for what is no zip archive, and for one that has other
  ///         entries than a bundle; kCorrupt; kLimit.
  static Result<std::shared_ptr<SymbolBundle>> open(const std::string& path);
  /// The same of an open source.
  static Result<std::shared_ptr<SymbolBundle>> open(std::unique_ptr<io::ByteSource> source,
                                                    const std::string& path);

  /// The file of a build id, in memory and without a name; closed when there is none. An entry
  /// that is damaged, too large, of another build id, or has more than tables and symbols, is
  /// refused and counted, once.
  io::Descriptor find(std::span<const std::uint8_t> build_id);

  /// The build ids of all entries, by their names.
  [[nodiscard]] std::vector<std::vector<std::uint8_t>> build_ids() const;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::size_t entries() const { return entries_.size(); }
  [[nodiscard]] std::uint64_t refused() const { return refused_; }

 private:
  struct Entry {
    std::size_t member = 0;
    bool refused = false;
  };
  SymbolBundle() = default;
  io::Descriptor open_entry(std::size_t member, std::span<const std::uint8_t> build_id);

  std::unique_ptr<io::ByteSource> source_;
  std::unique_ptr<codec::ZipArchive> archive_;
  std::map<std::string, Entry, std::less<>> entries_;  // by name
  std::string path_;
  std::uint64_t refused_ = 0;
};

}  // namespace stackpack::symbolize
