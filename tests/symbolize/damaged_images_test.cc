// What is read of ELF and PE files, maps and dumps of names, whole and damaged anywhere.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "app/branches/bolt_samples.h"
#include "app/branches/propeller_profile.h"
#include "io/byte_source.h"
#include "support/damaged_answers.h"
#include "symbolize/block_map.h"
#include "symbolize/elf_identity.h"
#include "symbolize/maps/jitdump.h"
#include "symbolize/maps/kallsyms.h"
#include "symbolize/maps/perf_map.h"
#include "symbolize/name_collector.h"
#include "symbolize/names_codec.h"
#include "symbolize/symbol_table.h"
#include "symbolize/windows/pe_image.h"
#include "symbolize/windows/ready_to_run.h"

namespace stackpack::test {
namespace {

using Bytes = std::span<const std::byte>;

std::string number(std::uint64_t value) {
  return std::to_string(value) + ' ';
}

std::string text_of_bytes(Bytes bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    text += static_cast<char>(byte);
  }
  return text;
}

std::string text_of_names(symbolize::NameCollector&& names) {
  symbolize::FoundNames found;
  found.losses = names.losses();
  found.names = std::move(names).finish();
  return text_of_bytes(symbolize::encode_names(found));
}

// What the process that reads symbol files sends.
std::string names_answer(Bytes data) {
  const auto found = symbolize::decode_names(data, {});
  return found ? text_of_bytes(symbolize::encode_names(*found)) : std::string(found.error().what);
}

std::string elf_answer(Bytes data) {
  const auto source = io::source_of_memory(data);
  const auto elf = symbolize::read_elf_identity(*source);
  if (!elf) {
    return message(elf.error());
  }
  std::string text = number(elf->type) + number(elf->machine) +
                     text_of_bytes(std::as_bytes(std::span(elf->build_id)));
  text += ' ' + elf->debug_link + ' ' + number(elf->debug_link_crc) + elf->alternate_link + ' ';
  text += text_of_bytes(std::as_bytes(std::span(elf->alternate_build_id)));
  for (const bool is : {elf->is_64_bit, elf->has_image_offsets, elf->has_symbols, elf->has_dwarf,
                        elf->has_code, elf->has_zstd, elf->has_split}) {
    text += is ? 'y' : 'n';
  }
  for (const symbolize::ElfSegment& segment : elf->segments) {
    text += number(segment.offset) + number(segment.address) + number(segment.file_bytes);
    text += number(segment.memory_bytes) + number(segment.alignment) + number(segment.executable);
  }
  for (std::uint64_t at = 0; at < 0x6000; at += 0x3F0) {
    text += number(elf->address_of(at).value_or(7)) + number(elf->offset_of(at).value_or(7));
    text += number(elf->offset_of(0x400000 + at).value_or(7));
  }
  return text;
}

std::string table_answer(Bytes data) {
  const auto file = io::source_of_memory(data);
  const auto symbols = symbolize::SymbolTable::read(*file);
  if (!symbols) {
    return message(symbols.error());
  }
  std::string text;
  for (const symbolize::TableSymbol& symbol : symbols->symbols()) {
    text += number(symbol.address) + number(symbol.bytes) + number(symbol.section);
    text += number(static_cast<std::uint64_t>(symbol.kind)) + number(symbol.is_local);
    text += std::string(symbols->name_of(symbol)) + ' ' + number(symbols->is_in_code(symbol));
    text += number(symbols->is_mark(symbol));
  }
  for (const app::BoltFunction& function : app::bolt_functions(*symbols)) {
    text += function.name + ' ' + number(function.address) + number(function.end);
  }
  const auto map = symbolize::read_block_map(*file);
  if (!map) {
    return text + message(map.error());
  }
  app::PlacedBranches placed;
  for (std::size_t i = 0; i < map->blocks.size() && i < 4096; ++i) {
    const auto& [address, bytes, id, function] = map->blocks[i];
    text += number(address) + number(bytes) + number(id) + number(function);
    const std::uint64_t next = map->blocks[(i + 1) % map->blocks.size()].address;
    placed.ranges[{address, next}] += 1 + i % 5;
    placed.edges[{address, map->blocks[(7 * i + 3) % map->blocks.size()].address}].count +=
        1 + i % 3;
  }
  const app::PropellerProfile profile = app::propeller_profile(placed, *map, *symbols);
  text += profile.clusters + profile.order + number(profile.functions) + number(profile.unnamed);
  return text + number(profile.outside);
}

std::string pe_answer(Bytes data) {
  const auto source = io::source_of_memory(data);
  const auto image = symbolize::read_pe_image(*source);
  if (!image) {
    return message(image.error());
  }
  std::vector<std::uint64_t> addresses;
  for (std::uint64_t address = 0; address < 0x4000; address += 20) {
    addresses.push_back(address);
  }
  symbolize::SymbolRequest request;
  request.addresses = addresses;
  symbolize::NameCollector collector;
  const Status exports = symbolize::read_pe_exports(*source, *image, request, collector);
  const Status methods = symbolize::read_precompiled_methods(*source, *image, request, collector);
  std::string text = exports ? "" : message(exports.error());
  text += methods ? "" : message(methods.error());
  text += number(image->machine) + number(image->timestamp) + number(image->image_size);
  text += number(image->pdbs.size()) + number(image->sections.size());
  return text + text_of_names(std::move(collector));
}

std::string map_answer(Bytes data, char kind) {
  std::vector<std::uint64_t> addresses;
  for (std::uint64_t address = 0; address < 0x1000; address += 12) {
    addresses.push_back(address);
  }
  for (std::uint64_t address = 0xffffffff81000000; address < 0xffffffff81000200; address += 12) {
    addresses.push_back(address);
  }
  symbolize::SymbolRequest request;
  request.addresses = addresses;
  symbolize::NameCollector collector;
  const auto source = io::source_of_memory(data);
  if (kind == 'k') {
    const auto symbols = symbolize::Kallsyms::read(*source);
    if (!symbols) {
      return message(symbols.error());
    }
    symbols->name(request, 0, {}, collector);
  } else if (kind == 'p') {
    const auto map = symbolize::PerfMap::read(*source);
    if (!map) {
      return message(map.error());
    }
    map->name(request, {}, collector);
  } else {
    const auto dump = symbolize::JitDump::read(*source, request.addresses);
    if (!dump) {
      return message(dump.error());
    }
    dump->name(request, {}, true, collector);
    dump->name(request, {}, false, collector);
  }
  return text_of_names(std::move(collector));
}

TEST_SUITE("damaged images") {
  TEST_CASE("an image with a byte changed gives what it gave") {
    std::string lines;
    for (const std::string& path : files_of("fuzz/corpus/symbol_elf")) {
      std::vector<std::byte> data = source_file(path);
      data.erase(data.begin());
      const bool is_elf = path.substr(path.rfind('/') + 1).starts_with("elf");
      list_damaged_answers(path, data, 300, is_elf ? elf_answer : names_answer, lines);
    }
    for (const char* const path : {"testdata/unwind/framed", "testdata/branches/loop"}) {
      list_damaged_answers(path, source_file(path), 150, elf_answer, lines);
      list_damaged_answers(path, source_file(path), 60, table_answer, lines);
    }
    for (const std::string& path : files_of("fuzz/corpus/branch_layouts")) {
      list_damaged_answers(path, source_file(path), 400, table_answer, lines);
    }
    for (const std::string& path : files_of("fuzz/corpus/symbol_pe")) {
      list_damaged_answers(path, source_file(path), 400, pe_answer, lines);
    }
    for (const char* const path :
         {"testdata/symbols/inlined.dll", "testdata/symbols/mangled.dll"}) {
      list_damaged_answers(path, source_file(path), 200, pe_answer, lines);
    }
    for (const std::string& path : files_of("fuzz/corpus/symbol_maps")) {
      const char kind = path[path.rfind('/') + 1];
      std::vector<std::byte> data = source_file(path);
      data.erase(data.begin());
      list_damaged_answers(
          path, data, 300, [kind](Bytes bytes) { return map_answer(bytes, kind); }, lines);
    }
    check_known_lines(lines, "tests/symbolize/damaged_images.txt");
  }
}

}  // namespace
}  // namespace stackpack::test
