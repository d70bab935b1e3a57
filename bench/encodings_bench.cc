// Benchmark "encodings": the distinct callstacks of the input, without their samples, as other
// formats would store them. Each encoding is decoded again, callstack by callstack, and must give
// the same frames.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "benchmarks.h"
#include "codec/zstd_codec.h"
#include "stored_input.h"
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

namespace stackpack::bench {
namespace {

constexpr std::array<int, 3> kLevels = {3, 9, 19};
// Level 19 packs 2 MB a second: not for what is larger.
constexpr std::size_t kMostForHighLevel = std::size_t{96} << 20;

using Path = std::vector<std::uint32_t>;  // dictionary indices, root first
using Visit = std::function<void(const Path&)>;

void for_each_stack(const dag::FrozenDag& dag, const Visit& visit) {
  Path path;
  for (std::size_t node = 0; node < dag.node_count(); ++node) {
    path.resize(dag.depth[node] - std::size_t{1});
    path.push_back(dag.frame[node]);
    if (dag.ends(node)) {
      visit(path);
    }
  }
}

// What the decoders give back, and what they must give back.
class Digest {
 public:
  void add(const Frame& frame) {
    mix(static_cast<std::uint64_t>(frame.mode));
    mix(frame.address);
  }
  void end_stack() { mix(~std::uint64_t{0}); }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  void mix(std::uint64_t word) {
    value_ = (value_ ^ word) * 0x9E3779B97F4A7C15;
    value_ ^= value_ >> 31;
  }
  std::uint64_t value_ = 0;
};

std::uint64_t digest_of(const dag::FrozenDag& dag) {
  Digest digest;
  for_each_stack(dag, [&](const Path& path) {
    std::for_each(path.rbegin(), path.rend(),
                  [&](std::uint32_t index) { digest.add(dag.dictionary[index]); });
    digest.end_stack();
  });
  return digest.value();
}

std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  bytes.copy(reinterpret_cast<char*>(&value), width, at);
  return value;
}

void put(std::string& bytes, std::uint64_t value, std::size_t width) {
  bytes.append(reinterpret_cast<const char*>(&value), width);
}

// Per callstack the number of frames, stretches of one mode, and the addresses, leaf first.
std::string encode_plain(const dag::FrozenDag& dag) {
  std::string bytes;
  for_each_stack(dag, [&](const Path& path) {
    put(bytes, path.size(), 2);
    std::size_t run = 0;
    for (auto index = path.rbegin(); index != path.rend(); ++index) {
      ++run;
      const FrameMode mode = dag.dictionary[*index].mode;
      if (index + 1 == path.rend() || dag.dictionary[index[1]].mode != mode) {
        put(bytes, static_cast<std::uint64_t>(mode), 1);
        put(bytes, run, 2);
        run = 0;
      }
    }
    std::for_each(path.rbegin(), path.rend(),
                  [&](std::uint32_t index) { put(bytes, dag.dictionary[index].address, 8); });
  });
  return bytes;
}

std::uint64_t decode_plain(std::string_view bytes, const dag::FrozenDag& /*dag*/) {
  Digest digest;
  std::vector<FrameMode> modes;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::uint64_t depth = number_at(bytes, at, 2);
    at += 2;
    modes.clear();
    for (; modes.size() < depth; at += 3) {
      const auto mode = static_cast<FrameMode>(number_at(bytes, at, 1));
      modes.insert(modes.end(), number_at(bytes, at + 1, 2), mode);
    }
    for (const FrameMode mode : modes) {
      digest.add({mode, number_at(bytes, at, 8)});
      at += 8;
    }
    digest.end_stack();
  }
  return digest.value();
}

// A line per callstack: mode letters and addresses, leaf first.
std::string encode_text(const dag::FrozenDag& dag) {
  std::string bytes;
  std::array<char, 16> digits{};
  for_each_stack(dag, [&](const Path& path) {
    for (auto index = path.rbegin(); index != path.rend(); ++index) {
      const Frame& frame = dag.dictionary[*index];
      const auto end =
          std::to_chars(digits.data(), digits.data() + digits.size(), frame.address, 16).ptr;
      bytes += index == path.rbegin() ? "" : ";";
      bytes += mode_letter(frame.mode);
      bytes.append(digits.data(), end);
    }
    bytes += " 1\n";
  });
  return bytes;
}

std::uint64_t decode_text(std::string_view bytes, const dag::FrozenDag& /*dag*/) {
  Digest digest;
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (at != end) {
    Frame frame;
    while (mode_letter(frame.mode) != *at) {
      frame.mode = static_cast<FrameMode>(static_cast<unsigned>(frame.mode) + 1);
    }
    at = std::from_chars(at + 1, end, frame.address, 16).ptr;
    digest.add(frame);
    if (*at == ';') {
      ++at;
    } else {
      at += std::string_view(" 1\n").size();
      digest.end_stack();
    }
  }
  return digest.value();
}

// Field numbers of a profiles dictionary.
constexpr std::uint32_t kLocationTable = 2;
constexpr std::uint32_t kStackTable = 7;
constexpr std::uint32_t kStackTree = 1000;
constexpr std::uint32_t kAddress = 2;
constexpr std::uint32_t kIndices = 1;
constexpr std::uint32_t kParents = 1;
constexpr std::uint32_t kLocations = 2;

// A location's address; its mode is left out, in favour of these formats.
void encode_locations(const dag::FrozenDag& dag, std::string& bytes) {
  protozero::pbf_writer message(bytes);
  message.add_message(kLocationTable, std::string());  // entry 0 stands for none
  for (const Frame& frame : dag.dictionary) {
    protozero::pbf_writer location(message, kLocationTable);
    location.add_uint64(kAddress, frame.address);
  }
}

bool location_is_right(protozero::pbf_reader location, std::uint32_t index,
                       const dag::FrozenDag& dag) {
  return location.next(kAddress) && location.get_uint64() == dag.dictionary[index - 1].address;
}

// One list of locations per callstack, leaf first.
std::string encode_stack_table(const dag::FrozenDag& dag) {
  std::string bytes;
  encode_locations(dag, bytes);
  protozero::pbf_writer message(bytes);
  std::vector<std::int32_t> indices;
  for_each_stack(dag, [&](const Path& path) {
    indices.clear();
    std::transform(path.rbegin(), path.rend(), std::back_inserter(indices),
                   [](std::uint32_t index) { return static_cast<std::int32_t>(index + 1); });
    protozero::pbf_writer stack(message, kStackTable);
    stack.add_packed_int32(kIndices, indices.begin(), indices.end());
  });
  return bytes;
}

std::uint64_t decode_stack_table(std::string_view bytes, const dag::FrozenDag& dag) {
  Digest digest;
  std::uint32_t locations = 0;
  protozero::pbf_reader message(bytes.data(), bytes.size());
  while (message.next()) {
    if (message.tag() == kLocationTable) {
      const protozero::pbf_reader location = message.get_message();
      if (locations > 0 && !location_is_right(location, locations, dag)) {
        return 0;
      }
      ++locations;
      continue;
    }
    protozero::pbf_reader stack = message.get_message();
    stack.next();
    for (const std::int32_t index : stack.get_packed_int32()) {
      digest.add(dag.dictionary[static_cast<std::size_t>(index) - 1]);
    }
    digest.end_stack();
  }
  return digest.value();
}

// The tree as two arrays: parent and location of each node. Here in canonical order.
std::string encode_stack_tree(const dag::FrozenDag& dag) {
  std::string bytes;
  encode_locations(dag, bytes);
  std::vector<std::int32_t> parents;
  std::vector<std::int32_t> locations;
  std::vector<std::int32_t> path;
  for (std::size_t node = 0; node < dag.node_count(); ++node) {
    path.resize(dag.depth[node] - std::size_t{1});
    parents.push_back(path.empty() ? 0 : path.back());
    locations.push_back(static_cast<std::int32_t>(dag.frame[node] + 1));
    path.push_back(static_cast<std::int32_t>(node + 1));
  }
  protozero::pbf_writer message(bytes);
  protozero::pbf_writer tree(message, kStackTree);
  tree.add_packed_int32(kParents, parents.begin(), parents.end());
  tree.add_packed_int32(kLocations, locations.begin(), locations.end());
  return bytes;
}

std::uint64_t decode_stack_tree(std::string_view bytes, const dag::FrozenDag& dag) {
  std::vector<std::int32_t> parents{0};
  std::vector<std::int32_t> locations{0};
  protozero::pbf_reader message(bytes.data(), bytes.size());
  while (message.next()) {
    protozero::pbf_reader part = message.get_message();
    if (message.tag() == kStackTree) {
      while (part.next()) {
        std::vector<std::int32_t>& array = part.tag() == kParents ? parents : locations;
        const auto numbers = part.get_packed_int32();
        array.insert(array.end(), numbers.begin(), numbers.end());
      }
    }
  }
  Digest digest;
  for (std::size_t node = 0; node < dag.node_count(); ++node) {
    if (dag.ends(node)) {
      for (auto at = static_cast<std::int32_t>(node + 1); at != 0;
           at = parents[static_cast<std::size_t>(at)]) {
        digest.add(
            dag.dictionary[static_cast<std::size_t>(locations[static_cast<std::size_t>(at)]) - 1]);
      }
      digest.end_stack();
    }
  }
  return digest.value();
}

struct Encoding {
  const char* name;
  std::string (*encode)(const dag::FrozenDag&);
  std::uint64_t (*decode)(std::string_view, const dag::FrozenDag&);
};

// Packed size, after a look at what comes out again; 0 when that is wrong.
std::uint64_t packed_bytes(const std::string& bytes, int level) {
  codec::ZstdCompressor zstd(level);
  std::vector<std::byte> frame;
  std::vector<std::byte> content(bytes.size());
  const auto raw = std::as_bytes(std::span(bytes));
  const bool right =
      zstd.compress(raw, frame) && codec::ZstdDecompressor().decompress(frame, content);
  return right && std::equal(content.begin(), content.end(), raw.begin()) ? frame.size() : 0;
}

bool print_encoding(const Encoding& encoding, const dag::FrozenDag& dag, std::uint64_t expected) {
  const std::string bytes = encoding.encode(dag);
  if (encoding.decode(bytes, dag) != expected) {
    std::printf("%s: other callstacks\n", encoding.name);
    return false;
  }
  std::printf("%-34s %12.0f", encoding.name, static_cast<double>(bytes.size()) / 1024);
  for (const int level : kLevels) {
    if (level == kLevels.back() && bytes.size() > kMostForHighLevel) {
      std::printf(" %10s", "-");
      continue;
    }
    const std::uint64_t packed = packed_bytes(bytes, level);
    if (packed == 0) {
      return false;
    }
    std::printf(" %10.0f", static_cast<double>(packed) / 1024);
    std::fflush(stdout);
  }
  std::printf("\n");
  return true;
}

bool print_ours(const StoredInput& input, std::uint64_t expected) {
  std::array<double, kLevels.size()> packed{};
  double raw = 0;
  for (std::size_t i = 0; i < kLevels.size(); ++i) {
    const SpkFile file = write_file(input, kLevels[i], Samples::kLeftOut);
    if (file.bytes.empty()) {
      return false;
    }
    const auto reader = file.open(std::uint64_t{1} << 30);
    Digest digest;
    std::vector<Frame> frames;
    for (StackId id = 0; id < reader->stack_count(); ++id) {
      if (!reader->callstack(id, frames)) {
        return false;
      }
      std::for_each(frames.begin(), frames.end(), [&](const Frame& frame) { digest.add(frame); });
      digest.end_stack();
    }
    if (digest.value() != expected) {
      return false;
    }
    packed[i] = static_cast<double>(file.dag_bytes()) / 1024;
    raw = static_cast<double>(file.raw_bytes("frames") + file.raw_bytes("edges") +
                              file.raw_bytes("pages") + file.raw_bytes("page_index")) /
          1024;
  }
  std::printf("%-34s %12.0f %10.0f %10.0f %10.0f\n", "ours, any callstack in one page", raw,
              packed[0], packed[1], packed[2]);
  return true;
}

}  // namespace

bool bench_encodings(const Settings& settings) {
  const StoredInput& input = stored_input(settings);
  constexpr std::array<Encoding, 4> kEncodings = {{
      {"plain addresses", encode_plain, decode_plain},
      {"folded text", encode_text, decode_text},
      {"OTLP stack table (#645)", encode_stack_table, decode_stack_table},
      {"OTLP tree of two arrays (#651)", encode_stack_tree, decode_stack_tree},
  }};
  const std::uint64_t expected = digest_of(input.dag);
  std::printf("%-34s %12s %10s %10s %10s\n", "KiB", "plain", "zstd -3", "zstd -9", "zstd -19");
  for (const Encoding& encoding : kEncodings) {
    if (!print_encoding(encoding, input.dag, expected)) {
      return false;
    }
  }
  return print_ours(input, expected);
}

}  // namespace stackpack::bench
