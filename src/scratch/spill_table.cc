#include "scratch/spill_table.h"

#include <algorithm>
#include <cstring>

namespace stackpack::scratch {

std::uint32_t SpillChains::add(std::span<const std::byte> bytes) {
  std::uint32_t chain = 0;
  // From the end, as each block names the next one.
  for (std::size_t end = bytes.size(); end != 0;) {
    Block block;
    const std::size_t begin = (end - 1) / block.bytes.size() * block.bytes.size();
    block.next = chain;
    std::memcpy(block.bytes.data(), bytes.data() + begin, end - begin);
    chain = blocks_.add(block);
    end = begin;
  }
  return chain;
}

void SpillChains::read(std::uint32_t chain, std::span<std::byte> into) const {
  while (!into.empty()) {
    const Block block = blocks_.get(chain);
    const std::size_t count = std::min(into.size(), block.bytes.size());
    std::memcpy(into.data(), block.bytes.data(), count);
    into = into.subspan(count);
    chain = block.next;
  }
}

void SpillChains::remove(std::uint32_t chain) {
  while (chain != 0) {
    const std::uint32_t next = blocks_.get(chain).next;
    blocks_.remove(chain);
    chain = next;
  }
}

}  // namespace stackpack::scratch
