#include "spk/format/block_index.h"

#include <algorithm>

#include "spk/format/layout.h"

namespace stackpack::spk {

namespace {

template <typename Entry, typename Get>
void write_field(std::span<const Entry> entries, Get get, BlockContent& content) {
  std::vector<std::uint64_t> values;
  values.reserve(entries.size());
  for (const Entry& entry : entries) {
    values.push_back(get(entry));
  }
  write_column(values, content);
}

template <typename Entry, typename Get>
void write_hashes(std::span<const Entry> entries, Get get, BlockContent& content) {
  content.cut();
  for (const Entry& entry : entries) {
    content.bytes().write(get(entry));
  }
}

// Reads a column of the new entries, each value at most `limit`, and hands it to `set`.
template <typename Entry, typename Set>
bool read_field(bytes::ByteCursor& in, std::span<Entry> entries, std::uint64_t limit, Set set) {
  std::vector<std::uint64_t> values;
  read_column(in, entries.size(), values);
  if (!in.ok()) {
    return false;
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (values[i] > limit) {
      return false;
    }
    set(entries[i], values[i]);
  }
  return true;
}

template <typename Entry, typename Set>
bool read_hashes(bytes::ByteCursor& in, std::span<Entry> entries, Set set) {
  for (Entry& entry : entries) {
    set(entry, in.read<std::uint64_t>());
  }
  return in.ok();
}

std::uint32_t narrow(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}

// Makes room for the entries of a block after those that are there; empty on failure.
template <typename Entry>
std::span<Entry> extend(bytes::ByteCursor& in, std::uint32_t limit, std::vector<Entry>& entries) {
  const std::uint64_t count = read_varint(in);
  if (!in.ok() || count > limit) {
    return {};
  }
  const std::size_t old_size = entries.size();
  entries.resize(old_size + static_cast<std::size_t>(count));
  return std::span(entries).subspan(old_size);
}

}  // namespace

void encode_page_index(std::span<const PageEntry> entries, BlockContent& content) {
  content.bytes().write_varint(entries.size());
  write_field(
      entries, [](const PageEntry& e) { return e.block.stored_bytes; }, content);
  write_field(
      entries, [](const PageEntry& e) { return e.block.raw_bytes; }, content);
  write_field(
      entries, [](const PageEntry& e) { return e.stacks; }, content);
  write_hashes(
      entries, [](const PageEntry& e) { return e.block.hash; }, content);
}

Status decode_page_index(bytes::ByteCursor in, std::vector<PageEntry>& entries) {
  const std::span<PageEntry> fresh = extend(in, kPagesPerIndexBlock, entries);
  const bool good =
      !fresh.empty() &&
      read_field(in, fresh, kMax32,
                 [](PageEntry& e, std::uint64_t v) { e.block.stored_bytes = narrow(v); }) &&
      read_field(in, fresh, kMaxPageBytes,
                 [](PageEntry& e, std::uint64_t v) { e.block.raw_bytes = narrow(v); }) &&
      read_field(in, fresh, kNodesPerPage,
                 [](PageEntry& e, std::uint64_t v) { e.stacks = narrow(v); }) &&
      read_hashes(in, fresh, [](PageEntry& e, std::uint64_t v) { e.block.hash = v; });
  return good && in.remaining() == 0 ? Status{} : in.corrupt("spk: page index");
}

void encode_sample_index(std::span<const SampleBlockEntry> entries, BlockContent& content) {
  using Entry = SampleBlockEntry;
  content.bytes().write_varint(entries.size());
  write_field(
      entries, [](const Entry& e) { return e.head.stored_bytes; }, content);
  write_field(
      entries, [](const Entry& e) { return e.head.raw_bytes; }, content);
  write_field(
      entries, [](const Entry& e) { return e.body.stored_bytes; }, content);
  write_field(
      entries, [](const Entry& e) { return e.body.raw_bytes; }, content);
  write_field(
      entries, [](const Entry& e) { return e.samples; }, content);
  write_field(
      entries, [](const Entry& e) { return e.from_ns; }, content);
  write_field(
      entries, [](const Entry& e) { return e.to_ns - e.from_ns; }, content);
  write_hashes(
      entries, [](const Entry& e) { return e.head.hash; }, content);
  write_hashes(
      entries, [](const Entry& e) { return e.body.hash; }, content);
}

Status decode_sample_index(bytes::ByteCursor in, std::vector<SampleBlockEntry>& entries) {
  using Entry = SampleBlockEntry;
  const std::span<Entry> fresh = extend(in, kSampleBlocksPerIndexBlock, entries);
  const bool good = !fresh.empty() && read_field(in, fresh, kMax32, [](Entry& e, std::uint64_t v) {
    e.head.stored_bytes = narrow(v);
  }) && read_field(in, fresh, kMaxSampleBlockBytes, [](Entry& e, std::uint64_t v) {
    e.head.raw_bytes = narrow(v);
  }) && read_field(in, fresh, kMax32, [](Entry& e, std::uint64_t v) {
    e.body.stored_bytes = narrow(v);
  }) && read_field(in, fresh, kMaxSampleBlockBytes, [](Entry& e, std::uint64_t v) {
    e.body.raw_bytes = narrow(v);
  }) && read_field(in, fresh, kSamplesPerBlock, [](Entry& e, std::uint64_t v) {
    e.samples = narrow(v);
  }) && read_field(in, fresh, ~std::uint64_t{0}, [](Entry& e, std::uint64_t v) {
    e.from_ns = v;
  }) && read_field(in, fresh, ~std::uint64_t{0}, [](Entry& e, std::uint64_t v) {
    e.to_ns = e.from_ns + v;
  }) && read_hashes(in, fresh, [](Entry& e, std::uint64_t v) {
    e.head.hash = v;
  }) && read_hashes(in, fresh, [](Entry& e, std::uint64_t v) { e.body.hash = v; });
  const bool sane = std::all_of(fresh.begin(), fresh.end(), [](const Entry& entry) {
    return entry.samples > 0 && entry.from_ns <= entry.to_ns;
  });
  return good && sane && in.remaining() == 0 ? Status{} : in.corrupt("spk: sample index");
}

}  // namespace stackpack::spk
