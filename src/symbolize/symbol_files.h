#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/descriptor.h"
#include "stackpack/result.h"
#include "symbolize/elf_identity.h"
#include "symbolize/segment_placement.h"
#include "symbolize/symbol_bundle.h"

namespace stackpack::symbolize {

/// Where files with symbols are looked for.
struct SymbolPlaces {
  /// Folders of the user: .build-id/xx/yyyy.debug, .build-id/xx/yyyy (a file, or a folder of perf's
  /// cache with `elf`), BUILDID/debuginfo and BUILDID/executable, the path of the image, its name.
  std::vector<std::string> directories;
  /// Files of the user: each is taken for the image or debug file whose build id it has, and one of
  /// a kernel for a kernel whose build id was not recorded.
  std::vector<std::string> files{};
  /// Where the recorded machine's files are; empty: this one's root.
  std::string root;
  bool has_root = false;  ///< the user gave it: files without a build id are believed
  /// Files of this machine are believed, too, that have no build id recorded, when they have the
  /// recorded inode, where one was recorded, did not change after this (ns since 1970) and have
  /// code where it was mapped. Nothing: they are not.
  std::optional<std::int64_t> unchanged_since_ns{};
  /// The capture is of this machine: images of processes that still run are looked for in the
  /// containers of those, too.
  bool in_containers = false;
  /// The capture is of the kernel that runs: what that maps into processes is believed.
  bool of_this_kernel = false;
  /// Archives of tables and symbols, which are looked into last.
  std::vector<std::shared_ptr<SymbolBundle>> bundles{};
};

/// Which image is meant.
struct ImageKey {
  std::string_view path;
  std::span<const std::uint8_t> build_id;  ///< empty: not recorded
  std::span<const ImageMapping> mappings{};
};

/// Why an image has no names, or what it has.
enum class SearchEnd : std::uint8_t {
  kFound,
  kNoFile,
  kOtherBuildId,  ///< there is a file, of another build
  kNoBuildId,     ///< nothing says that a file is the one that was recorded
  kOtherFile,     ///< as kNoBuildId, and the file with that path has another inode
  kChanged,       ///< as kNoBuildId, and the file with that path is not the one that was recorded
  kNotElf,
  kNotAFile,   ///< a device, a FIFO, a folder
  kShortage,   ///< nobody knows: no more files could be opened, or there was no memory
  kNotPlaced,  ///< a debug file alone, and the mappings do not say what it is of the image
};

/// The same for people; empty for kFound. `no_build_id`: what kNoBuildId is called, which depends
/// on what can be done about it.
std::string_view reason_of(SearchEnd end, std::string_view no_build_id);

/// The files of an image, open.
struct FoundFiles {
  SearchEnd end = SearchEnd::kNoFile;
  Error shortage{};  ///< of kShortage: kResource
  /// Not there when only its debug file was found. The entry of a bundle stands for one that is
  /// missing: it has the image's headers.
  io::Descriptor image;
  io::Descriptor debug;      ///< what was stripped from it
  io::Descriptor alternate;  ///< what several debug files share
  io::Descriptor package;    ///< of its split debug information
  /// Of the image, else of the debug file, with offsets of the image unless `end` is kNotPlaced.
  ElfIdentity layout;
  /// `image` is a packed kernel module, which was not looked into, and there is nothing else.
  bool packed = false;
  bool has_split = false;     ///< parts of the debug information may be in .dwo files
  std::uint64_t bytes = 0;    ///< of all of them
  bool by_path = false;       ///< `image` is believed without a build id: for its path or its inode
  bool same_inode = false;    ///< with by_path: it is the inode that was mapped
  bool other_device = false;  ///< with same_inode: on another device than recorded
  std::string image_path;
  std::string debug_path;
};

/// Finds the files of an ELF image. Nothing is fetched from elsewhere. Where the end is kNotPlaced
/// there are files, but offsets of the capture are not to be looked up in them.
FoundFiles find_elf_files(const ImageKey& key, const SymbolPlaces& places);

/// The first of places.files that is the image or debug file of a kernel: its code has addresses of
/// the upper half.
FoundFiles find_kernel_file(const SymbolPlaces& places);

/// Of those of places.directories that are files and not folders, makes ELF files places.files, and
/// opens the others as bundles. Errors: those of SymbolBundle::open.
Status open_bundles(SymbolPlaces& places);

/// Entries of all bundles that were refused so far.
std::uint64_t refused_entries(const SymbolPlaces& places);

/// The bytes of a build id in hex.
std::string build_id_text(std::span<const std::uint8_t> id);

}  // namespace stackpack::symbolize
