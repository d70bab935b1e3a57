#include "symbolize/elf_names.h"
#include "symbolize/split_files.h"

namespace stackpack::symbolize {

bool reads_elf_names() {
  return false;
}

Status read_elf_names(const ElfFiles& /*files*/, const SymbolRequest& /*request*/,
                      NameCollector& /*names*/) {
  return Error{ErrorCode::kUnsupported, kNoOffset, "symbols of ELF files are read on Linux only"};
}

std::optional<std::uint64_t> elf_symbol_address(const ElfFiles& /*files*/,
                                                std::string_view /*symbol*/) {
  return std::nullopt;
}

std::string folder_of_file(int /*descriptor*/) {
  return {};
}

io::Descriptor open_split_file(const std::string& /*path*/, const SplitFolders& /*where*/) {
  return {};
}

}  // namespace stackpack::symbolize
