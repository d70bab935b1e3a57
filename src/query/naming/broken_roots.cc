#include "query/naming/broken_roots.h"

namespace stackpack::query {

namespace {

constexpr std::size_t kKnownFrames = std::size_t{1} << 12;

}  // namespace

BrokenRoots::BrokenRoots(const SampleSelection& selection)
    : selection_(selection), known_(kKnownFrames) {}

bool BrokenRoots::is_code(const Frame& frame, std::uint32_t context) {
  const std::uint64_t hash =
      (frame.address ^ (std::uint64_t{context} << 40)) * 0x9E37'79B9'7F4A'7C15ULL;
  Known& known = known_[(hash >> 32) & (kKnownFrames - 1)];
  if (known.context != context || known.frame != frame) {
    const MappingContext& mapping = selection_.contexts()[context];
    const CodeLocation found =
        selection_.symbols().locate(frame, mapping.pid, mapping.time_ns, AddressUse::kReturn);
    known = {frame, context,
             found.module != nullptr || found.function != nullptr || !found.has_address};
  }
  return known.is_code;
}

std::size_t BrokenRoots::count(std::span<const Frame> leaf_first, std::uint32_t context) {
  std::size_t broken = 0;
  for (auto frame = leaf_first.rbegin(); frame != leaf_first.rend(); ++frame, ++broken) {
    if (frame->mode != FrameMode::kUser) {
      return 0;
    }
    if (is_code(*frame, context)) {
      return broken;
    }
  }
  return 0;
}

}  // namespace stackpack::query
