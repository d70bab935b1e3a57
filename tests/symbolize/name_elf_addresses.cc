// Names addresses from ELF files: name_elf_addresses IMAGE [DEBUG_FILE|PACKAGE.dwp] < ADDRESSES
//
// ADDRESSES has one hexadecimal virtual address a line. A line of the answer is the address, TAB,
// and `function file:line` of each inlined function, innermost first, joined by ` | `; files
// without their folders, `-` for a line that is not known, nothing for an address without a name.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/byte_source.h"
#include "io/system_file.h"
#include "symbolize/elf_names.h"
#include "symbolize/name_collector.h"

namespace {

namespace sp = stackpack;

template <typename Row>
const Row* last_row_at(const std::vector<Row>& rows, std::uint64_t offset) {
  const Row* found = nullptr;
  for (const Row& row : rows) {
    found = offset - row.start < row.size ? &row : found;
  }
  return found;
}

std::string place(const sp::Names& names, std::uint32_t file, std::uint32_t line) {
  const std::string_view path = names.texts[file];
  return file == sp::kNoText
             ? " -"
             : " " + std::string(path.substr(path.rfind('/') + 1)) + ":" + std::to_string(line);
}

std::string chain_of(const sp::Names& names, std::uint64_t offset) {
  const sp::Function* const function = last_row_at(names.functions, offset);
  if (function == nullptr) {
    return {};
  }
  sp::CodeLine line;
  if (const sp::CodeLine* const row = last_row_at(names.lines, offset); row != nullptr) {
    line = *row;
  }
  std::string chain;
  for (std::uint32_t at = line.inlined; at != sp::kNoInline; at = names.inlined[at].parent) {
    const sp::InlinedCall& call = names.inlined[at];
    chain += std::string(names.texts[call.name]) + place(names, line.file, line.line) + " | ";
    line.file = call.call_file;
    line.line = call.call_line;
  }
  return chain + std::string(names.texts[function->name]) + place(names, line.file, line.line);
}

}  // namespace

int main(int argc, char** argv) {
  sp::symbolize::ElfFiles files;
  std::vector<sp::io::Descriptor> open;
  for (int i = 1; i < argc && i <= 2; ++i) {
    sp::Result<sp::io::RootedFile> file = sp::io::open_rooted_file("", argv[i]);
    if (!file) {
      std::cerr << argv[i] << ": " << file.error().what << '\n';
      return 1;
    }
    open.push_back(std::move(file->descriptor));
    const bool is_package = std::string_view(argv[i]).ends_with(".dwp");
    (i == 1 ? files.image : is_package ? files.package : files.debug) = open.back().get();
  }
  const auto source = sp::io::source_of_descriptor(files.image);
  const auto layout = sp::symbolize::read_elf_identity(*source);
  if (!layout) {
    std::cerr << layout.error().what << '\n';
    return 1;
  }
  files.layout = *layout;
  files.split = sp::symbolize::SplitFiles::kAnywhere;
  std::vector<std::string> texts;
  std::vector<std::uint64_t> offsets;
  for (std::string text; std::getline(std::cin, text);) {
    constexpr int kHex = 16;
    texts.push_back(text);
    offsets.push_back(
        layout->offset_of(std::strtoull(text.c_str(), nullptr, kHex)).value_or(~std::uint64_t{0}));
  }
  std::vector<std::uint64_t> asked = offsets;
  std::sort(asked.begin(), asked.end());
  sp::symbolize::NameCollector collector;
  if (const sp::Status read = sp::symbolize::read_elf_names(files, {asked, true, {}}, collector);
      !read) {
    std::cerr << read.error().what << '\n';
    return 1;
  }
  const sp::Names names = std::move(collector).finish();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::cout << texts[i] << '\t' << chain_of(names, offsets[i]) << '\n';
  }
  return 0;
}
