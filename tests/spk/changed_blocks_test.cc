// What is read of .spk files whose blocks are changed below their checksums: every rule that a
// block may break, and the rows of those that break none.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "stackpack/convert.h"
#include "stackpack/merge.h"
#include "support/damaged_answers.h"
#include "support/spk_recipe.h"
#include "support/spk_text.h"
#include "support/temporary_folder.h"

namespace stackpack::test {
namespace {

std::string answer_of(std::span<const std::byte> file) {
  const auto reader = Reader::open_memory(file);
  return reader ? SpkText(**reader).text() : std::string(reader.error().what);
}

// One of the changes that a place may suffer: bits, whole bytes, a piece left out or doubled.
void change(std::vector<std::byte>& bytes, std::uint32_t seed) {
  if (bytes.empty()) {
    bytes.push_back(std::byte{1});
    return;
  }
  const std::size_t place = (seed * std::size_t{2654435761} >> 7) % bytes.size();
  const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(place);
  if (seed % 9 == 7) {
    bytes.erase(at, bytes.end());
  } else if (seed % 9 == 8) {
    bytes.insert(at, *at);
  } else {
    constexpr unsigned char kFlips[] = {0x01, 0x80, 0xFF, 0x02, 0x10, 0x7F, 0x04};
    *at ^= static_cast<std::byte>(kFlips[seed % 9]);
  }
}

void add_changed(std::span<const std::byte> file, std::uint32_t changes, DamagedFigures& figures) {
  figures.whole.add(answer_of(file));
  for (std::uint32_t seed = 0; seed < changes; ++seed) {
    auto recipe = take_recipe(file);
    if (!recipe) {
      return;
    }
    change_recipe(*recipe, seed, [seed](std::vector<std::byte>& bytes) { change(bytes, seed); });
    figures.changed.add(answer_of(cook(std::move(*recipe))));
  }
}

TEST_SUITE("changed blocks") {
  TEST_CASE("a file with a changed block gives what it gave, or the error") {
    const ScratchDirectory folder;
    std::string lines;
    for (const char* const path :
         {"fuzz/corpus/spk_walk", "fuzz/corpus/spk_samples", "testdata/spk/v1-imported"}) {
      DamagedFigures figures;
      for (const std::string& file : files_of(path)) {
        add_changed(source_file(file), 16, figures);
      }
      lines += figures.line(path);
    }
    std::vector<std::string> made;
    for (const char* const name : {"kernel.x64.etl", "branches/loop.perf.data.gz", "small.nettrace",
                                   "named/words.perf.data", "events.perf.data"}) {
      ConvertOptions options;
      options.keep_branches = true;
      made.push_back(folder.file(std::to_string(made.size()) + ".spk"));
      REQUIRE(convert(source_folder() + "/testdata/" + name, made.back(), options, nullptr));
      DamagedFigures figures;
      add_changed(read_test_file(made.back()), 160, figures);
      lines += figures.line(name);
    }
    made.resize(4);
    REQUIRE(merge(made, folder.file("all.spk"), {}, nullptr));
    DamagedFigures figures;
    add_changed(read_test_file(folder.file("all.spk")), 240, figures);
    lines += figures.line("all of them");
    check_known_lines(lines, "tests/spk/changed_blocks.txt");
  }
}

}  // namespace
}  // namespace stackpack::test
