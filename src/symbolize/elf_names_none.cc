#include "symbolize/elf_names.h"

namespace stackpack::symbolize {

bool reads_elf_names() {
  return false;
}

Status read_elf_names(const ElfFiles& /*files*/, const SymbolRequest& /*request*/,
                      NameCollector& /*names*/) {
  return Error{ErrorCode::kUnsupported, kNoOffset, "symbols of ELF files are read on Linux"};
}

std::optional<std::uint64_t> elf_symbol_address(const ElfFiles& /*files*/,
                                                std::string_view /*symbol*/) {
  return std::nullopt;
}

}  // namespace stackpack::symbolize
