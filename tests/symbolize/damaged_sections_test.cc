// Sections of ELF files under zstd, whole and damaged anywhere.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "io/byte_source.h"
#include "support/damaged_answers.h"
#include "symbolize/elf_identity.h"
#include "symbolize/elf_sections.h"

namespace stackpack::test {
namespace {

std::string unpacked_answer(std::span<const std::byte> data) {
  const auto source = io::source_of_memory(data);
  const auto elf = symbolize::read_elf_identity(*source);
  if (!elf) {
    return message(elf.error());
  }
  std::uint64_t damaged = 0;
  std::string text;
  for (const std::byte byte : symbolize::without_zstd_sections(*source, *elf, 1 << 20, damaged)) {
    text += static_cast<char>(byte);
  }
  return text + std::to_string(damaged);
}

TEST_SUITE("damaged sections") {
  TEST_CASE("an image under zstd with a byte changed gives what it gave") {
    std::string lines;
    for (const std::string& path : files_of("fuzz/corpus/symbol_elf")) {
      std::vector<std::byte> data = source_file(path);
      data.erase(data.begin());
      if (path.substr(path.rfind('/') + 1).starts_with("elf")) {
        list_damaged_answers(path, data, 300, unpacked_answer, lines);
      }
    }
    check_known_lines(lines, "tests/symbolize/damaged_sections.txt");
  }
}

}  // namespace
}  // namespace stackpack::test
