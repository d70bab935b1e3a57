#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/descriptor.h"
#include "symbolize/elf_identity.h"
#include "symbolize/symbol_kit.h"

namespace stackpack::symbolize {

/// Where files with symbols are looked for.
struct SymbolPlaces {
  /// Folders of the user: .build-id/xx/yyyy.debug, .build-id/xx/yyyy (a file, or a folder of perf's
  /// cache with `elf`), BUILDID/debuginfo and BUILDID/executable, the path of the image, its name.
  std::vector<std::string> directories;
  /// Where the recorded machine's files are; empty: this one's root.
  std::string root;
  bool has_root = false;  ///< the user gave it: files without a build id are believed
  /// Archives of tables and symbols, which are looked into last.
  std::vector<std::shared_ptr<SymbolKit>> kits{};
};

/// Which image is meant.
struct ImageKey {
  std::string_view path;
  std::span<const std::uint8_t> build_id;  ///< empty: not recorded
};

/// Why an image has no names, or what it has.
enum class SearchEnd : std::uint8_t {
  kFound,
  kNoFile,
  kOtherBuildId,  ///< there is a file, of another build
  kNoBuildId,     ///< nothing says that a file is the one that was recorded
  kNotElf,
  kNotAFile,  ///< a device, a FIFO, a folder
};

/// The same for people; empty for kFound. `no_build_id`: what kNoBuildId is called, which depends
/// on what can be done about it.
std::string_view reason_of(SearchEnd end, std::string_view no_build_id);

/// The files of an image, open.
struct FoundFiles {
  SearchEnd end = SearchEnd::kNoFile;
  io::Descriptor image;      ///< not there when only its debug file was found
  io::Descriptor debug;      ///< what was stripped from it
  io::Descriptor alternate;  ///< what several debug files share
  io::Descriptor package;    ///< of its split debug information
  ElfIdentity layout;        ///< of the image, else of the debug file
  /// `image` is a packed kernel module, which was not looked into, and there is nothing else.
  bool packed = false;
  bool has_split = false;   ///< parts of the debug information may be in .dwo files
  std::uint64_t bytes = 0;  ///< of all of them
  std::string image_path;
  std::string debug_path;
};

/// Finds the files of an ELF image. Nothing is fetched from elsewhere.
FoundFiles find_elf_files(const ImageKey& key, const SymbolPlaces& places);

/// Opens those of places.directories that are files and not folders as kits.
/// Errors: those of SymbolKit::open.
Status open_kits(SymbolPlaces& places);

/// Entries of all kits that were refused so far.
std::uint64_t refused_entries(const SymbolPlaces& places);

/// The bytes of a build id in hex.
std::string build_id_text(std::span<const std::uint8_t> id);

}  // namespace stackpack::symbolize
