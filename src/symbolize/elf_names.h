#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "stackpack/result.h"
#include "symbolize/elf_identity.h"
#include "symbolize/name_collector.h"
#include "symbolize/symbol_request.h"

namespace stackpack::symbolize {

/// Where .dwo files, which debug information names by their paths, may be read from.
enum class SplitFiles : std::uint8_t {
  kNone,
  kBeside,  ///< the folder of the file that names them
  kAnywhere,
};

/// The open files of one image; -1: there is none. At least one of the first two is there.
struct ElfFiles {
  int image = -1;
  int debug = -1;      ///< with what was stripped from the image
  int alternate = -1;  ///< what several debug files share
  int package = -1;    ///< of split debug information
  ElfIdentity layout;  ///< of the image; without it of the debug file
  /// The image is a packed kernel module, and there is nothing else. It counts when it has that
  /// build id, or no build id is wanted; `layout` is its own.
  bool packed = false;
  std::vector<std::uint8_t> build_id{};
  SplitFiles split = SplitFiles::kNone;
};

/// Whether this program was built with the libraries that read_elf_names() needs.
bool reads_elf_names();

/// Names the addresses of a request, which are offsets in the image's file. Rows are of module 0.
/// The files are read by libraries which may crash or hang on a hostile one: to be called in a
/// process of its own.
/// Errors: kCorrupt when no file can be read.
Status read_elf_names(const ElfFiles& files, const SymbolRequest& request, NameCollector& names);

/// The address of a symbol of any kind in the tables of an image; nothing when it has none. As
/// read_elf_names().
std::optional<std::uint64_t> elf_symbol_address(const ElfFiles& files, std::string_view symbol);

}  // namespace stackpack::symbolize
