// Benchmark "pages": bytes per node of page layouts, all tables included. Before anything is
// printed, every distinct callstack is decoded from the published layout and from our file and
// compared with the stream.
#include <algorithm>
#include <array>
#include <cstdio>

#include "benchmarks.h"
#include "builder/published_builder.h"
#include "codec/zstd_codec.h"
#include "stored_input.h"

namespace stackpack::bench {
namespace {

constexpr std::array<int, 3> kLevels = {3, 9, 19};

bool same_frames(std::span<const Frame> frames, const capture::StackView& stack) {
  return std::equal(
      frames.begin(), frames.end(), stack.addresses.begin(), stack.addresses.end(),
      [](const Frame& frame, std::uint64_t address) { return frame.address == address; });
}

bool published_is_right(const StackStream& stream, const StoredInput& input,
                        PublishedBuilder& published, const std::vector<std::uint32_t>& nodes) {
  return std::all_of(input.by_id.begin(), input.by_id.end(), [&](std::size_t entry) {
    return published.holds(nodes[entry], stream.stack(entry));
  });
}

// Bytes that the file takes in memory; 0 when it does not hold the input's callstacks.
std::uint64_t checked_resident_bytes(const StackStream& stream, const StoredInput& input,
                                     const SpkFile& file) {
  const auto reader = file.open(std::uint64_t{1} << 30);
  std::vector<Frame> frames;
  for (StackId id = 0; id < reader->stack_count(); ++id) {
    if (!reader->callstack(id, frames) || !same_frames(frames, stream.stack(input.by_id[id]))) {
      return 0;
    }
  }
  return reader->stack_count() == input.by_id.size() ? reader->resident_bytes().value() : 0;
}

std::uint64_t packed_bytes(const std::vector<std::vector<std::byte>>& pages, int level) {
  codec::ZstdCompressor zstd(level);
  std::vector<std::byte> frame;
  std::uint64_t bytes = 0;
  for (const std::vector<std::byte>& page : pages) {
    bytes += zstd.compress(page, frame) ? frame.size() : page.size();
  }
  return bytes;
}

}  // namespace

bool bench_pages(const Settings& settings) {
  const StackStream& stream = input_stream(settings);
  const StoredInput& input = stored_input(settings);
  PublishedBuilder published;
  std::vector<std::uint32_t> nodes_of(stream.size());
  for (std::size_t i = 0; i < stream.size(); ++i) {
    nodes_of[i] = published.intern(stream.stack(i), stream.entry(i).thread);
  }
  if (!published_is_right(stream, input, published, nodes_of)) {
    return false;
  }

  const auto nodes = static_cast<double>(input.dag.node_count());
  const auto stored = published.stored_pages();
  std::uint64_t plain = 0;
  for (const std::vector<std::byte>& page : stored) {
    plain += page.size();
  }
  std::printf("%-36s %9s %9s %9s %9s\n", "bytes per node", "plain", "zstd -3", "zstd -9",
              "zstd -19");
  std::printf("%-36s %9.3f", "published, 65,535 nodes a page", static_cast<double>(plain) / nodes);
  for (const int level : kLevels) {
    std::printf(" %9.3f", static_cast<double>(packed_bytes(stored, level)) / nodes);
  }
  SpkFile file;
  std::uint64_t resident = 0;
  std::array<double, kLevels.size()> ours{};
  for (std::size_t i = 0; i < kLevels.size(); ++i) {
    SpkFile at_level = write_file(input, kLevels[i], Samples::kLeftOut);
    if (at_level.bytes.empty()) {
      return false;
    }
    resident = checked_resident_bytes(stream, input, at_level);
    if (resident == 0) {
      return false;
    }
    ours[i] = static_cast<double>(at_level.dag_bytes()) / nodes;
    if (kLevels[i] == spk::WriterOptions{}.level) {
      file = std::move(at_level);
    }
  }
  const double raw = static_cast<double>(file.raw_bytes("frames") + file.raw_bytes("edges") +
                                         file.raw_bytes("pages") + file.raw_bytes("page_index"));
  std::printf("\n%-36s %9.3f %9.3f %9.3f %9.3f\n", "ours, dictionary and edges included",
              raw / nodes, ours[0], ours[1], ours[2]);
  for (const char* const section : {"frames", "edges", "pages", "page_index"}) {
    std::printf("  %-34s %9.3f %9s %9.3f\n", section,
                static_cast<double>(file.raw_bytes(section)) / nodes, "",
                static_cast<double>(file.stored_bytes(section)) / nodes);
  }
  std::printf("resident: published %.3f, ours %.3f (dictionary and edges included)\n",
              static_cast<double>(published.store_bytes()) / nodes,
              static_cast<double>(resident) / nodes);
  return true;
}

}  // namespace stackpack::bench
