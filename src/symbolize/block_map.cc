#include "symbolize/block_map.h"

#include <algorithm>

#include "elf/elf_headers.h"

namespace stackpack::symbolize {

namespace {

constexpr std::uint32_t kOldMapType = 0x6FFF'4C08;  // SHT_LLVM_BB_ADDR_MAP_V0
constexpr std::uint32_t kMapType = 0x6FFF'4C0A;     // SHT_LLVM_BB_ADDR_MAP
constexpr std::uint64_t kMostMapBytes = std::uint64_t{1} << 30;
constexpr std::uint8_t kNewestVersion = 4;
constexpr std::uint64_t kMost32 = 0xFFFF'FFFF;

bool is_map(const elf::Section& section) {
  return section.type == kMapType || section.type == kOldMapType;
}

struct Features {
  bool entry_count = false;
  bool frequencies = false;
  bool probabilities = false;
  bool ranges = false;
  bool omits_blocks = false;
  bool call_sites = false;
  bool hashes = false;
};

Features features_of(std::uint8_t bits) {
  const unsigned mask = bits;
  const auto has = [mask](unsigned bit) { return (mask >> bit & 1U) != 0; };
  return {has(0), has(1), has(2), has(3), has(4), has(5), has(6)};
}

class MapDecoder {
 public:
  MapDecoder(bytes::ByteCursor in, bool is_64_bit, bool is_old, BlockMap& map)
      : in_(in), is_64_bit_(is_64_bit), is_old_(is_old), map_(map) {}

  Status run() {
    while (in_.remaining() != 0) {
      if (const Status read = read_function(); !read) {
        return read;
      }
    }
    return {};
  }

 private:
  Status read_function() {
    version_ = is_old_ ? std::uint8_t{0} : in_.read<std::uint8_t>();
    const std::uint8_t bits = is_old_ ? std::uint8_t{0} : in_.read<std::uint8_t>();
    if (version_ > kNewestVersion || bits > 0x7F) {
      return Error{ErrorCode::kUnsupported, in_.offset(),
                   "elf: .llvm_bb_addr_map of an unknown version"};
    }
    features_ = features_of(bits);
    const auto function = static_cast<std::uint32_t>(map_.entries.size());
    const std::uint64_t ranges = features_.ranges ? in_.read_varint() : 1;
    std::uint64_t blocks = 0;
    for (std::uint64_t i = 0; i < ranges && in_.ok(); ++i) {
      const std::uint64_t begin =
          is_64_bit_ ? in_.read<std::uint64_t>() : in_.read<std::uint32_t>();
      if (i == 0) {
        map_.entries.push_back(begin);
      }
      const std::uint64_t count = in_.read_varint();
      read_blocks(begin, features_.omits_blocks ? 0 : count, function, blocks);
      blocks += count;
    }
    if (ranges == 0) {
      return in_.corrupt("elf: .llvm_bb_addr_map: a function without code");
    }
    pass_profile(blocks);
    return in_.ok() ? Status{} : in_.corrupt("elf: .llvm_bb_addr_map: fields");
  }

  void read_blocks(std::uint64_t begin, std::uint64_t count, std::uint32_t function,
                   std::uint64_t first) {
    std::uint64_t end = begin;  // of the block before
    for (std::uint64_t i = 0; i < count && in_.ok(); ++i) {
      const std::uint64_t id = version_ >= 2 ? in_.read_varint() : first + i;
      const std::uint64_t offset = in_.read_varint();
      CodeBlock block;
      block.address = (version_ == 0 ? begin : end) + offset;
      block.bytes = pass_call_sites() + in_.read_varint();
      in_.read_varint();  // flags
      if (features_.hashes) {
        in_.skip(sizeof(std::uint64_t));
      }
      if (id > kMost32) {
        in_.skip(~std::uint64_t{0});  // marks the cursor failed
      }
      block.id = static_cast<std::uint32_t>(id);
      block.function = function;
      end = block.address + block.bytes;
      if (in_.ok()) {
        map_.blocks.push_back(block);
      }
    }
  }

  // Sizes count from the last call site on. Returns where that is.
  std::uint64_t pass_call_sites() {
    std::uint64_t last = 0;
    const std::uint64_t sites = features_.call_sites ? in_.read_varint() : 0;
    for (std::uint64_t i = 0; i < sites && in_.ok(); ++i) {
      last += in_.read_varint();
    }
    return last;
  }

  // What a compiler knew of an earlier profile.
  void pass_profile(std::uint64_t blocks) {
    if (features_.entry_count) {
      in_.read_varint();
    }
    const bool has_rows = features_.frequencies || features_.probabilities;
    for (std::uint64_t i = 0; has_rows && i < blocks && in_.ok(); ++i) {
      if (features_.frequencies) {
        in_.read_varint();
      }
      const std::uint64_t successors = features_.probabilities ? in_.read_varint() : 0;
      for (std::uint64_t j = 0; j < successors && in_.ok(); ++j) {
        in_.read_varint();
        in_.read_varint();
      }
    }
  }

  bytes::ByteCursor in_;
  bool is_64_bit_;
  bool is_old_;
  BlockMap& map_;
  std::uint8_t version_ = 0;
  Features features_;
};

}  // namespace

Status decode_block_map(bytes::ByteCursor in, bool is_64_bit, bool is_old, BlockMap& map) {
  return MapDecoder(in, is_64_bit, is_old, map).run();
}

bool has_block_map(io::ByteSource& file) {
  const Result<elf::Headers> headers = elf::read_headers(file);
  return headers && std::any_of(headers->sections.begin(), headers->sections.end(),
                                [](const elf::Section& section) { return is_map(section); });
}

Result<BlockMap> read_block_map(io::ByteSource& file) {
  const Result<elf::Headers> headers = elf::read_headers(file);
  if (!headers) {
    return headers.error();
  }
  BlockMap map;
  for (const elf::Section& section : headers->sections) {
    if (!is_map(section)) {
      continue;
    }
    const std::vector<std::byte> bytes =
        elf::read_part(file, section.offset, section.size, kMostMapBytes);
    const Status decoded =
        decode_block_map(bytes::ByteCursor(bytes, section.offset, headers->order),
                         headers->is_64_bit, section.type == kOldMapType, map);
    if (!decoded) {
      return decoded.error();
    }
  }
  if (map.blocks.empty()) {
    return Error{ErrorCode::kUnsupported, kNoOffset,
                 "elf: no .llvm_bb_addr_map: clang -fbasic-block-address-map makes it"};
  }
  return map;
}

}  // namespace stackpack::symbolize
