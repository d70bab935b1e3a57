// Changes .spk files below their checksums: a block is decompressed, changed, compressed again, and
// sizes and hashes are made right.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "support/spk_recipe.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  using stackpack::test::SpkRecipe;
  const std::span<std::uint8_t> room(data, max_size);
  std::optional<SpkRecipe> recipe;
  if (seed % 8 != 0) {
    recipe = stackpack::test::take_recipe(std::as_bytes(room.first(size)));
  }
  if (!recipe) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  const auto change = [](std::vector<std::byte>& bytes) {
    std::vector<std::uint8_t> raw(bytes.size() + 64);
    std::transform(bytes.begin(), bytes.end(), raw.begin(),
                   [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
    raw.resize(LLVMFuzzerMutate(raw.data(), bytes.size(), raw.size()));
    const auto changed = std::as_bytes(std::span(raw));
    bytes.assign(changed.begin(), changed.end());
  };
  for (unsigned i = 0; i <= seed % 3; ++i) {
    stackpack::test::change_recipe(*recipe, seed + i, change);
  }
  const std::vector<std::byte> file = stackpack::test::cook(std::move(*recipe));
  if (file.size() > max_size) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  std::transform(file.begin(), file.end(), data,
                 [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
  return file.size();
}
