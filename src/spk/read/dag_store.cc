#include "spk/read/dag_store.h"

#include <algorithm>

#include "spk/format/layout.h"

namespace stackpack::spk {

namespace {

Error section_error(const SectionRecord& section, std::string_view what) {
  return {ErrorCode::kCorrupt, section.offset, what};
}

Error missing_section() {
  return {ErrorCode::kCorrupt, kNoOffset, "spk: directory: a required section is missing"};
}

}  // namespace

Status DagStore::load() {
  if (loaded_.load(std::memory_order_acquire)) {
    return {};
  }
  const std::lock_guard lock(mutex_);
  if (loaded_.load(std::memory_order_relaxed)) {
    return {};
  }
  BlockReader::Lease scratch = blocks_.borrow();
  dictionary_ = {};
  pages_.clear();
  for (const auto step : {&DagStore::load_frames, &DagStore::load_edges, &DagStore::load_pages}) {
    if (const Status loaded = (this->*step)(*scratch); !loaded) {
      return loaded;
    }
  }
  add_hints();
  cache_.emplace(cache_bytes_, pages_.size());
  loaded_.store(true, std::memory_order_release);
  return {};
}

// Frames that are numbers of the rows of another section.
Status DagStore::load_numbers() {
  const SectionRecord* const section = directory_.find(*sections_.numbers);
  if (section == nullptr) {
    return missing_section();
  }
  if (section->items > kMaxFrames) {
    return Error{ErrorCode::kUnsupported, section->offset, "spk: frames: too many"};
  }
  constexpr std::uint64_t kTogether = 4'096;
  std::vector<Frame> frames;
  for (std::uint64_t number = 0; number < section->items;) {
    frames.clear();
    for (const std::uint64_t end = std::min(section->items, number + kTogether); number < end;
         ++number) {
      frames.push_back({FrameMode::kUnknown, number});
    }
    dictionary_.append(frames);
  }
  dictionary_.seal();
  return {};
}

Status DagStore::load_frames(ReadScratch& scratch) {
  if (!sections_.frames) {
    return load_numbers();
  }
  const SectionRecord* const section = directory_.find(*sections_.frames);
  if (section == nullptr) {
    return missing_section();
  }
  std::uint64_t left = section->items;
  if (left > kMaxFrames) {
    return Error{ErrorCode::kUnsupported, section->offset, "spk: frames: too many"};
  }
  std::vector<Frame> frames;
  std::optional<Frame> before;
  const Status done =
      for_each_block(blocks_, *section, scratch, [&](const bytes::ByteCursor& in) -> Status {
        const auto count =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(left, kFramesPerBlock));
        if (count == 0) {
          return in.corrupt("spk: frames: more blocks than frames");
        }
        if (const Status decoded = decode_frame_block(in, count, frames); !decoded) {
          return decoded;
        }
        if (before.has_value() && !(*before < frames.front())) {
          return in.corrupt("spk: frames: blocks do not ascend");
        }
        before = frames.back();
        dictionary_.append(frames);
        left -= count;
        return {};
      });
  dictionary_.seal();
  return done && left > 0 ? section_error(*section, "spk: frames: blocks are missing") : done;
}

Status DagStore::load_edges(ReadScratch& scratch) {
  const SectionRecord* const section = directory_.find(sections_.edges);
  if (section == nullptr) {
    return missing_section();
  }
  if (section->items > kMaxEdges) {
    return Error{ErrorCode::kUnsupported, section->offset, "spk: edges: too many"};
  }
  EdgeTableBuilder builder(dictionary_.size());
  if (const Status done =
          for_each_block(blocks_, *section, scratch,
                         [&](const bytes::ByteCursor& in) { return builder.add_block(in); });
      !done) {
    return done;
  }
  if (builder.edge_count() != section->items) {
    return section_error(*section, "spk: edges: number of edges");
  }
  Result<EdgeTable> table = builder.finish();
  if (!table) {
    return section_error(*section, table.error().what);
  }
  edges_ = std::move(table).value();
  dictionary_ = dictionary_.in_order(builder.order());
  return {};
}

Status DagStore::load_pages(ReadScratch& scratch) {
  const SectionRecord* const section = directory_.find(sections_.pages);
  const SectionRecord* const index = directory_.find(sections_.page_index);
  if (section == nullptr || index == nullptr) {
    return missing_section();
  }
  node_count_ = section->items;
  const std::uint64_t page_count = node_count_ / kNodesPerPage + (node_count_ % kNodesPerPage != 0);
  if (section->block_count != page_count || index->items != page_count) {
    return section_error(*index, "spk: page index: number of pages");
  }
  std::vector<PageEntry> entries;
  if (const Status done = for_each_block(blocks_, *index, scratch,
                                         [&](const bytes::ByteCursor& in) -> Status {
                                           if (entries.size() % kPagesPerIndexBlock != 0 ||
                                               entries.size() >= page_count) {
                                             return in.corrupt("spk: page index: blocks");
                                           }
                                           return decode_page_index(in, entries);
                                         });
      !done) {
    return done;
  }
  if (entries.size() != page_count) {
    return section_error(*index, "spk: page index: number of pages");
  }
  return add_pages(entries, *section);
}

// The pages fill their section.
Status DagStore::add_pages(const std::vector<PageEntry>& entries, const SectionRecord& section) {
  std::uint64_t offset = section.offset;
  std::uint64_t left = section.stored_bytes;
  std::uint64_t raw = 0;
  stack_count_ = 0;
  pages_.reserve(entries.size());
  for (const PageEntry& entry : entries) {
    if (entry.block.stored_bytes == 0 || entry.block.stored_bytes > left) {
      return section_error(section, "spk: page index: sizes");
    }
    pages_.push_back({entry.block, offset, stack_count_, entry.stacks});
    offset += entry.block.stored_bytes;
    left -= entry.block.stored_bytes;
    raw += entry.block.raw_bytes;
    stack_count_ += entry.stacks;
  }
  if (left != 0 || raw != section.raw_bytes || stack_count_ > kNoStack) {
    return section_error(section, "spk: page index: sizes");
  }
  return {};
}

void DagStore::add_hints() {
  page_hints_.clear();
  for (std::size_t page = 0; page < pages_.size(); ++page) {
    const std::uint64_t end = pages_[page].first_stack + pages_[page].stacks;
    while (page_hints_.size() * kStacksPerHint < end) {
      page_hints_.push_back(static_cast<std::uint32_t>(page));
    }
  }
}

std::uint64_t DagStore::page_of(std::uint64_t id) const {
  std::size_t page = page_hints_[static_cast<std::size_t>(id / kStacksPerHint)];
  while (id - pages_[page].first_stack >= pages_[page].stacks) {
    ++page;
  }
  return page;
}

PageDecoder::Expected DagStore::expected_of(std::uint64_t number) const {
  const Page& page = pages_[static_cast<std::size_t>(number)];
  const std::uint64_t first_node = number * kNodesPerPage;
  const auto nodes =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(kNodesPerPage, node_count_ - first_node));
  return {first_node, page.first_stack, nodes, page.stacks, page.offset};
}

Result<ResidentPage> DagStore::read_page(std::uint64_t number, ReadScratch& scratch) {
  const Page& page = pages_[static_cast<std::size_t>(number)];
  const auto content = blocks_.read(page.offset, page.block, scratch);
  if (!content) {
    return content.error();
  }
  return scratch.pages.decode(content.value(), edges_, dictionary_, expected_of(number));
}

Result<PageCache::Pin> DagStore::page(std::uint64_t number) {
  PageCache::Pin pin = cache_->find(number);
  if (pin) {
    return pin;
  }
  BlockReader::Lease scratch = blocks_.borrow();
  Result<ResidentPage> page = read_page(number, *scratch);
  if (!page) {
    return page.error();
  }
  return cache_->insert(number, std::move(page).value());
}

Status DagStore::read_stack(std::uint64_t number, std::uint32_t stack, std::vector<Frame>& frames) {
  PageCache::Pin pin = cache_->find(number);
  if (!pin) {
    const Page& page = pages_[static_cast<std::size_t>(number)];
    BlockReader::Lease scratch = blocks_.borrow();
    const auto content = blocks_.read(page.offset, page.block, *scratch);
    if (!content) {
      return content.error();
    }
    if (!cache_->worth_adding(number)) {
      return scratch->pages.read_stack(content.value(), edges_, dictionary_, expected_of(number),
                                       stack, frames);
    }
    Result<ResidentPage> loaded =
        scratch->pages.decode(content.value(), edges_, dictionary_, expected_of(number));
    if (!loaded) {
      return loaded.error();
    }
    pin = cache_->insert(number, std::move(loaded).value());
  }
  pin->read_stack(stack, dictionary_, edges_, frames);
  return {};
}

Result<std::uint64_t> DagStore::resident_bytes() {
  std::uint64_t bytes = dictionary_.memory_bytes() + edges_.memory_bytes();
  BlockReader::Lease scratch = blocks_.borrow();
  for (std::uint64_t number = 0; number < pages_.size(); ++number) {
    const Result<ResidentPage> page = read_page(number, *scratch);
    if (!page) {
      return page.error();
    }
    bytes += page->memory_bytes();
  }
  return bytes;
}

CacheCounters DagStore::cache() const {
  return loaded_.load(std::memory_order_acquire) ? cache_->counters() : CacheCounters{};
}

}  // namespace stackpack::spk
