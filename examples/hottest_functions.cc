// Lists the functions in which most samples were taken: the work of `stackpack top`, by hand.
//
//   hottest_functions FILE.spk
//
// Build: c++ -std=c++20 hottest_functions.cc $(pkg-config --cflags --libs stackpack)
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "stackpack/reader.h"
#include "stackpack/symbols.h"

namespace {

using stackpack::StoredSample;

// What a frame is called: its function, else its image, else its address.
std::string name_of(const stackpack::CodeLocation& location, const stackpack::Frame& frame) {
  if (!location.name.empty()) {
    return std::string(location.name);
  }
  if (location.module != nullptr) {
    return location.module->path;
  }
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(frame.address));
  return text;
}

// Samples by the function at their leaf.
stackpack::Result<std::map<std::string, std::uint64_t>> count(const stackpack::Reader& reader) {
  const auto symbols = stackpack::Symbols::load(reader);
  if (!symbols) {
    return symbols.error();
  }
  std::map<std::string, std::uint64_t> samples;
  std::vector<stackpack::Frame> frames;
  stackpack::Status failure;
  const stackpack::Status visited = reader.samples({}, [&](std::span<const StoredSample> block) {
    for (const StoredSample& sample : block) {
      if (sample.stack == stackpack::kNoStack) {
        continue;
      }
      failure = reader.callstack(sample.stack, frames);
      if (!failure) {
        return false;
      }
      const auto leaf = symbols.value()->locate(frames.front(), sample.pid, sample.time_ns,
                                                stackpack::AddressUse::kExact);
      ++samples[name_of(leaf, frames.front())];
    }
    return true;
  });
  if (!visited || !failure) {
    return !visited ? visited.error() : failure.error();
  }
  return samples;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FILE.spk\n", argv[0]);
    return 1;
  }
  const auto reader = stackpack::Reader::open(argv[1]);
  const auto counted = reader ? count(**reader) : reader.error();
  if (!counted) {
    std::fprintf(stderr, "%s: %s\n", argv[1], message(counted.error()).c_str());
    return 2;
  }
  std::vector<std::pair<std::uint64_t, std::string>> rows;
  for (const auto& [name, samples] : *counted) {
    rows.emplace_back(samples, name);
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  constexpr std::size_t kTop = 10;
  for (std::size_t i = 0; i < std::min(kTop, rows.size()); ++i) {
    std::printf("%8llu  %s\n", static_cast<unsigned long long>(rows[i].first),
                rows[i].second.c_str());
  }
  return 0;
}
