// Every name, line and inlined call that ELF files of several compilers have for every byte of
// their code, alone and together with the debug file.
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "io/byte_source.h"
#include "io/system_file.h"
#include "support/damaged_answers.h"
#include "symbolize/elf_names.h"

namespace stackpack::symbolize {
namespace {

using Opened = std::shared_ptr<io::RootedFile>;

Opened open_image(const std::string& name) {
  auto file = io::open_rooted_file("", test::source_folder() + "/testdata/symbols/" + name);
  REQUIRE(file.has_value());
  return std::make_shared<io::RootedFile>(std::move(*file));
}

std::string text_of(const Names& names) {
  std::string text;
  const auto named = [&](std::uint32_t number) {
    text += number == kNoText ? "-" : std::string(names.texts[number]);
    text += ' ';
  };
  const auto counted = [&](std::uint64_t number) { text += std::to_string(number) + ' '; };
  for (const Function& row : names.functions) {
    counted(row.start);
    counted(row.size);
    counted(static_cast<std::uint64_t>(row.source));
    named(row.name);
    named(row.linkage);
    text += '\n';
  }
  for (const CodeLine& row : names.lines) {
    counted(row.start);
    counted(row.size);
    counted(row.line);
    named(row.file);
    for (std::uint32_t at = row.inlined; at != kNoInline; at = names.inlined[at].parent) {
      named(names.inlined[at].name);
      named(names.inlined[at].call_file);
      counted(names.inlined[at].call_line);
    }
    text += '\n';
  }
  return text;
}

std::string answer_of(const std::string& image, const std::string& debug, bool inlines) {
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t offset = 0xF00; offset < 0x1300; ++offset) {
    offsets.push_back(offset);
  }
  ElfFiles files;
  const Opened first = image.empty() ? nullptr : open_image(image);
  const Opened second = debug.empty() ? nullptr : open_image(debug);
  files.image = first == nullptr ? -1 : first->descriptor.get();
  files.debug = second == nullptr ? -1 : second->descriptor.get();
  const auto layout =
      io::source_of_descriptor((first == nullptr ? second : first)->descriptor.get());
  auto identity = read_elf_identity(*layout);
  REQUIRE(identity.has_value());
  files.layout = std::move(*identity);
  NameCollector names;
  const Status read = read_elf_names(files, {offsets, inlines, {}}, names);
  std::string text = read ? "" : std::string(read.error().what) + '\n';
  for (const char* const symbol : {"entry", "unlikely", "_ZN3app4seenEPKci", "none"}) {
    text += std::to_string(elf_symbol_address(files, symbol).value_or(7)) + ' ';
  }
  return text + text_of(std::move(names).finish());
}

TEST_SUITE("known images") {
  TEST_CASE("names of every byte of code, by several compilers") {
    if (!reads_elf_names()) {
      return;
    }
    std::string lines;
    const std::pair<const char*, const char*> cases[] = {
        {"elf.dwarf5", ""},           {"elf.dwarf4", ""},  {"elf.clang", ""},
        {"elf.stripped", ""},         {"elf.dynamic", ""}, {"elf.stripped", "elf.debug"},
        {"elf.dynamic", "elf.debug"}, {"", "elf.debug"},   {"elf.clang", "elf.debug"}};
    for (const auto& [image, debug] : cases) {
      for (const bool inlines : {false, true}) {
        const std::string text = answer_of(image, debug, inlines);
        test::AnswerFigures figures;
        std::istringstream rows(text);
        for (std::string row; std::getline(rows, row);) {
          figures.add(row);
        }
        lines += std::string("image '") + image + "' debug '" + debug + "' " +
                 (inlines ? "inlined: " : "functions: ") + figures.text() + '\n';
        if (inlines && debug[0] == '\0') {
          lines += text.substr(0, text.rfind('\n', 300)) + '\n';
        }
      }
    }
    test::check_known_lines(lines, "tests/symbolize/known_images.txt");
  }
}

}  // namespace
}  // namespace stackpack::symbolize
