#include "support/spk_recipe.h"

#include <algorithm>
#include <random>

#include "bytes/byte_cursor.h"
#include "bytes/hash.h"
#include "codec/zstd_codec.h"
#include "spk/format/layout.h"

namespace stackpack::test {

namespace {

using spk::SectionKind;

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;

bool is(const spk::SectionRecord& record, SectionKind kind) {
  return record.kind == static_cast<std::uint32_t>(kind);
}

// Reads the blocks of a file, as long as they are small.
class BlockTaker {
 public:
  explicit BlockTaker(std::span<const std::byte> file) : file_(file) {}

  bool take(std::uint64_t& offset, const spk::BlockRecord& block,
            std::vector<std::vector<std::byte>>& contents) {
    taken_ += block.raw_bytes;
    if (taken_ > kMostBytes || offset > file_.size() ||
        block.stored_bytes > file_.size() - offset) {
      return false;
    }
    std::vector<std::byte>& content = contents.emplace_back(block.raw_bytes);
    const auto frame = file_.subspan(static_cast<std::size_t>(offset), block.stored_bytes);
    offset += block.stored_bytes;
    return zstd_.decompress(frame, content).has_value();
  }

 private:
  std::span<const std::byte> file_;
  codec::ZstdDecompressor zstd_;
  std::uint64_t taken_ = 0;
};

bool take_listed(BlockTaker& taker, SpkRecipe& recipe) {
  for (SpkRecipe::Section& section : recipe.sections) {
    std::uint64_t offset = section.record.offset;
    for (const spk::BlockRecord& block : section.record.blocks) {
      if (!taker.take(offset, block, section.blocks)) {
        return false;
      }
    }
  }
  return true;
}

bool take_indices(SpkRecipe& recipe) {
  for (const SpkRecipe::Section& section : recipe.sections) {
    for (const auto& block : section.blocks) {
      const bytes::ByteCursor in(block, 0);
      if ((is(section.record, SectionKind::kPageIndex) &&
           !spk::decode_page_index(in, recipe.pages)) ||
          (is(section.record, SectionKind::kSampleIndex) &&
           !spk::decode_sample_index(in, recipe.samples))) {
        return false;
      }
    }
  }
  return true;
}

bool take_indexed(BlockTaker& taker, SpkRecipe& recipe) {
  for (SpkRecipe::Section& section : recipe.sections) {
    std::uint64_t offset = section.record.offset;
    if (is(section.record, SectionKind::kPages)) {
      for (const spk::PageEntry& page : recipe.pages) {
        if (!taker.take(offset, page.block, section.blocks)) {
          return false;
        }
      }
    } else if (is(section.record, SectionKind::kSamples)) {
      for (const spk::SampleBlockEntry& entry : recipe.samples) {
        if (!taker.take(offset, entry.head, section.blocks) ||
            !taker.take(offset, entry.body, section.blocks)) {
          return false;
        }
      }
    }
  }
  return true;
}

// Writes sections after each other.
class Cook {
 public:
  explicit Cook(SpkRecipe& recipe) : recipe_(recipe), file_(spk::encode_header()) {}

  std::vector<std::byte> cook() {
    for (SpkRecipe::Section& section : recipe_.sections) {
      add(section);
    }
    const std::vector<std::byte> tail = spk::encode_tail(directory_, file_.size());
    file_.insert(file_.end(), tail.begin(), tail.end());
    return std::move(file_);
  }

 private:
  void add(SpkRecipe::Section& section) {
    renew_index(section);
    spk::SectionRecord record = section.record;
    record.offset = file_.size();
    record.stored_bytes = 0;
    record.raw_bytes = 0;
    record.block_count = section.blocks.size();
    record.blocks.clear();
    for (const auto& content : section.blocks) {
      if (!zstd_.compress(content, frame_)) {
        frame_.clear();
      }
      const spk::BlockRecord block{static_cast<std::uint32_t>(frame_.size()),
                                   static_cast<std::uint32_t>(content.size()),
                                   bytes::xxh3_64(frame_)};
      file_.insert(file_.end(), frame_.begin(), frame_.end());
      record.stored_bytes += block.stored_bytes;
      record.raw_bytes += block.raw_bytes;
      record.blocks.push_back(block);
    }
    note_indexed(record);
    if ((record.flags & spk::kSectionIndexed) != 0) {
      record.blocks.clear();
    }
    directory_.sections.push_back(std::move(record));
  }

  void note_indexed(const spk::SectionRecord& record) {
    if (is(record, SectionKind::kPages)) {
      recipe_.pages.resize(record.blocks.size());
      for (std::size_t i = 0; i < record.blocks.size(); ++i) {
        recipe_.pages[i].block = record.blocks[i];
      }
    } else if (is(record, SectionKind::kSamples)) {
      recipe_.samples.resize(record.blocks.size() / 2);
      for (std::size_t i = 0; i < recipe_.samples.size(); ++i) {
        recipe_.samples[i].head = record.blocks[2 * i];
        recipe_.samples[i].body = record.blocks[2 * i + 1];
      }
    }
  }

  void renew_index(SpkRecipe::Section& section) const {
    spk::BlockContent content;
    if (is(section.record, SectionKind::kPageIndex) && !recipe_.pages.empty() &&
        recipe_.pages.size() <= spk::kPagesPerIndexBlock) {
      spk::encode_page_index(recipe_.pages, content);
    } else if (is(section.record, SectionKind::kSampleIndex) && !recipe_.samples.empty() &&
               recipe_.samples.size() <= spk::kSampleBlocksPerIndexBlock) {
      spk::encode_sample_index(recipe_.samples, content);
    } else {
      return;
    }
    const auto bytes = content.bytes().bytes();
    section.blocks.assign(1, {bytes.begin(), bytes.end()});
  }

  SpkRecipe& recipe_;
  std::vector<std::byte> file_;
  std::vector<std::byte> frame_;
  codec::ZstdCompressor zstd_{1};
  spk::Directory directory_;
};

// A number near the old one, or one that no writer would write.
std::uint64_t changed_number(std::uint64_t old, std::mt19937& random) {
  switch (random() % 6) {
    case 0:
      return old + 1;
    case 1:
      return old - 1;
    case 2:
      return 0;
    case 3:
      return std::uint64_t{1} << (random() % 64);
    case 4:
      return ~std::uint64_t{0} >> (random() % 64);
    default:
      return random() % 4'200;
  }
}

void change_entries(SpkRecipe& recipe, std::mt19937& random) {
  if (random() % 2 == 0 && !recipe.pages.empty()) {
    spk::PageEntry& page = recipe.pages[random() % recipe.pages.size()];
    page.stacks = static_cast<std::uint32_t>(changed_number(page.stacks, random));
  } else if (!recipe.samples.empty()) {
    spk::SampleBlockEntry& entry = recipe.samples[random() % recipe.samples.size()];
    switch (random() % 3) {
      case 0:
        entry.samples = static_cast<std::uint32_t>(changed_number(entry.samples, random));
        break;
      case 1:
        entry.from_ns = changed_number(entry.from_ns, random);
        break;
      default:
        entry.to_ns = changed_number(entry.to_ns, random);
        break;
    }
  }
}

void change_section(SpkRecipe& recipe, SpkRecipe::Section& section, std::mt19937& random) {
  switch (random() % 8) {
    case 0:
      section.record.kind = random() % 16;
      break;
    case 1:
      section.record.flags = random() % 4;
      break;
    case 2:
      section.blocks.push_back(section.blocks.empty() ? std::vector<std::byte>(8)
                                                      : section.blocks.back());
      break;
    case 3:
      if (!section.blocks.empty()) {
        section.blocks.pop_back();
      }
      break;
    case 4:
      std::swap(section, recipe.sections[random() % recipe.sections.size()]);
      break;
    default:
      section.record.items = changed_number(section.record.items, random);
      break;
  }
}

}  // namespace

std::optional<SpkRecipe> take_recipe(std::span<const std::byte> file) {
  if (file.size() < spk::kTrailerBytes) {
    return std::nullopt;
  }
  const auto trailer = spk::decode_trailer(file.last(spk::kTrailerBytes), file.size());
  if (!trailer) {
    return std::nullopt;
  }
  auto directory =
      spk::decode_directory(file.subspan(static_cast<std::size_t>(trailer->directory_offset),
                                         static_cast<std::size_t>(trailer->directory_bytes)),
                            *trailer);
  if (!directory) {
    return std::nullopt;
  }
  SpkRecipe recipe;
  for (spk::SectionRecord& section : directory->sections) {
    recipe.sections.push_back({std::move(section), {}});
  }
  BlockTaker taker(file);
  if (!take_listed(taker, recipe) || !take_indices(recipe) || !take_indexed(taker, recipe)) {
    return std::nullopt;
  }
  return recipe;
}

std::vector<std::byte> cook(SpkRecipe recipe) {
  return Cook(recipe).cook();
}

void change_recipe(SpkRecipe& recipe, std::uint32_t seed, const ChangeBytes& change) {
  std::mt19937 random(seed);
  if (recipe.sections.empty()) {
    return;
  }
  SpkRecipe::Section& section = recipe.sections[random() % recipe.sections.size()];
  const auto choice = random() % 10;
  if (choice == 0) {
    change_entries(recipe, random);
  } else if (choice == 1 || section.blocks.empty()) {
    change_section(recipe, section, random);
  } else {
    change(section.blocks[random() % section.blocks.size()]);
  }
}

}  // namespace stackpack::test
