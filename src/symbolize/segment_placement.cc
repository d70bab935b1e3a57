#include "symbolize/segment_placement.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include <elf.h>

#include "core/sort_rows.h"

namespace stackpack::symbolize {

namespace {

constexpr std::uint64_t kSmallestPage = 4096;

/// That a mapping is of a segment, which lies `shift` above its address.
struct Guess {
  std::uint32_t pid = 0;
  std::uint64_t shift = 0;
  std::size_t mapping = 0;
  std::size_t segment = 0;
  std::uint64_t offset = 0;  // of the segment in the image
  std::size_t votes = 0;     // mappings of the process with that shift
};

class SegmentPlacement {
 public:
  SegmentPlacement(const ElfIdentity& file, std::span<const ImageMapping> mappings)
      : file_(file), mappings_(mappings.begin(), mappings.end()) {
    std::sort(mappings_.begin(), mappings_.end());
    mappings_.erase(std::unique(mappings_.begin(), mappings_.end()), mappings_.end());
    for (const ElfSegment& segment : file.segments) {
      if (segment.memory_bytes != 0 && segment.memory_bytes <= ~segment.address) {
        first_ = std::min(first_, segment.address);
        end_ = std::max(end_, segment.address + segment.memory_bytes);
        segments_.push_back(segment);
      }
    }
  }

  // The segments with their offsets in the image; empty: it is not known, or not the only way.
  std::vector<ElfSegment> run() {
    if (segments_.size() > kMostPlacedSegments) {
      return {};
    }
    const std::size_t count = mappings_.size();
    const std::size_t most_guesses = 1024 + 8 * count;
    for (std::size_t i = 0; i < count && guesses_.size() <= most_guesses; ++i) {
      guess(i);
    }
    if (guesses_.size() > most_guesses) {
      return {};
    }
    guess_joined();
    count_votes();
    return place_all();
  }

 private:
  // Whether a mapping can be of a segment where pages have that size.
  void guess(std::size_t mapping, std::size_t segment, std::uint64_t page) {
    const ImageMapping& mapped = mappings_[mapping];
    const ElfSegment& code = segments_[segment];
    const std::uint64_t begin = code.address & ~(page - 1);
    const auto pages_to = [&](std::uint64_t end) { return (end - begin + page - 1) / page; };
    const std::uint64_t own_pages = pages_to(code.address + code.memory_bytes);
    const std::uint64_t all_pages = code.address == first_ ? pages_to(end_) : own_pages;
    const std::uint64_t pages = mapped.size / page;
    // A program that is not moved may be mapped in pieces.
    const bool stays = file_.type == ET_EXEC;
    const std::uint64_t inside = stays ? mapped.base - begin : 0;
    const bool fits = stays ? mapped.base >= begin && inside / page < all_pages &&
                                  pages <= all_pages - inside / page
                            : pages == own_pages || pages == all_pages;
    const std::uint64_t unit = std::max(page, code.alignment);
    if (!fits || mapped.file_offset < inside || (mapped.file_offset - inside - begin) % unit != 0) {
      return;
    }
    guesses_.push_back({mapped.pid, mapped.base - inside - begin, mapping, segment,
                        mapped.file_offset - inside + (code.address - begin), 0});
  }

  void guess(std::size_t mapping) {
    const ImageMapping& mapped = mappings_[mapping];
    const bool one_size = file_.machine == EM_X86_64 || file_.machine == EM_386;
    constexpr std::array<std::uint64_t, 3> kPages{kSmallestPage, 16384, 65536};
    for (const std::uint64_t page : std::span(kPages).first(one_size ? 1 : kPages.size())) {
      if (((mapped.base | mapped.size | mapped.file_offset) & (page - 1)) != 0) {
        return;
      }
      for (std::size_t segment = 0; segment < segments_.size(); ++segment) {
        guess(mapping, segment, page);
      }
    }
  }

  // Mappings of no segment may be pieces of one, when they follow each other in memory and file.
  void guess_joined() {
    std::vector<bool> known(mappings_.size());
    for (const Guess& guess : guesses_) {
      known[guess.mapping] = known[guess.mapping] || segments_[guess.segment].executable;
    }
    const std::size_t count = mappings_.size();
    for (std::size_t i = 0; i < count;) {
      ImageMapping joined = mappings_[i];
      std::size_t next = i + 1;
      while (next < count && !known[i] && !known[next] && mappings_[next].pid == joined.pid &&
             mappings_[next].base == joined.base + joined.size &&
             mappings_[next].file_offset == joined.file_offset + joined.size) {
        joined.size += mappings_[next++].size;
      }
      if (next != i + 1) {
        mappings_.push_back(joined);
        guess(mappings_.size() - 1);
      }
      i = next;
    }
  }

  // How many mappings of the process have the same distance, and the most of each mapping.
  void count_votes() {
    const auto key = [](const Guess& guess) { return std::tuple(guess.pid, guess.shift); };
    core::sort_rows(guesses_, [&](const Guess& a, const Guess& b) {
      return std::tuple(key(a), a.mapping, a.segment) < std::tuple(key(b), b.mapping, b.segment);
    });
    most_votes_.assign(mappings_.size(), 0);
    for (auto begin = guesses_.begin(); begin != guesses_.end();) {
      const auto end = std::find_if(begin, guesses_.end(),
                                    [&](const Guess& guess) { return key(guess) != key(*begin); });
      std::size_t votes = 0;
      for (auto guess = begin; guess != end; ++guess) {
        votes += guess == begin || guess->mapping != (guess - 1)->mapping ? 1U : 0U;
      }
      for (; begin != end; ++begin) {
        begin->votes = votes;
        most_votes_[begin->mapping] = std::max(most_votes_[begin->mapping], votes);
      }
    }
  }

  // The executable segments; none when one has two places, or two have one.
  [[nodiscard]] std::vector<ElfSegment> place_all() const {
    std::vector<ElfSegment> placed;
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      std::vector<std::uint64_t> offsets;
      for (const Guess& guess : guesses_) {
        if (guess.segment == i && guess.votes == most_votes_[guess.mapping]) {
          offsets.push_back(guess.offset);
        }
      }
      if (!segments_[i].executable || offsets.empty()) {
        continue;
      }
      if (std::adjacent_find(offsets.begin(), offsets.end(), std::not_equal_to<>()) !=
          offsets.end()) {
        return {};
      }
      placed.push_back(segments_[i]);
      placed.back().offset = offsets.front();
      placed.back().file_bytes = placed.back().memory_bytes;
    }
    return are_apart(placed) ? placed : std::vector<ElfSegment>();
  }

  // Whether no byte of the image belongs to two segments.
  static bool are_apart(std::vector<ElfSegment> placed) {
    core::sort_rows(placed,
                    [](const ElfSegment& a, const ElfSegment& b) { return a.offset < b.offset; });
    for (std::size_t i = 1; i < placed.size(); ++i) {
      if (placed[i].offset - placed[i - 1].offset < placed[i - 1].file_bytes) {
        return false;
      }
    }
    return true;
  }

  const ElfIdentity& file_;
  std::vector<ImageMapping> mappings_;
  std::vector<ElfSegment> segments_;
  std::uint64_t first_ = ~std::uint64_t{0};  // address of the first byte of all segments
  std::uint64_t end_ = 0;
  std::vector<Guess> guesses_;
  std::vector<std::size_t> most_votes_;  // by mapping
};

}  // namespace

bool place_segments(ElfIdentity& file, std::span<const ImageMapping> mappings) {
  std::vector<ElfSegment> placed = SegmentPlacement(file, mappings).run();
  if (placed.empty()) {
    return false;
  }
  file.segments = std::move(placed);
  return true;
}

bool has_code_where_mapped(const ElfIdentity& file, std::span<const ImageMapping> mappings) {
  constexpr std::uint64_t kPage = 4096;
  return file.has_image_offsets &&
         std::all_of(mappings.begin(), mappings.end(), [&file](const ImageMapping& mapping) {
           return std::any_of(
               file.segments.begin(), file.segments.end(), [&mapping](const ElfSegment& segment) {
                 const std::uint64_t begin = segment.offset / kPage * kPage;
                 const std::uint64_t pages =
                     (segment.offset - begin + segment.memory_bytes + kPage - 1) / kPage;
                 return segment.executable && mapping.file_offset >= begin &&
                        mapping.file_offset - begin <= pages * kPage &&
                        mapping.size <= pages * kPage - (mapping.file_offset - begin);
               });
         });
}

}  // namespace stackpack::symbolize
