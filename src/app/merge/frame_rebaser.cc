#include "app/merge/frame_rebaser.h"

#include <algorithm>
#include <optional>

#include "capture/rebased_addresses.h"

namespace stackpack::app {

using capture::RebasedAddresses;

namespace {

// Frames of a callstack that those before it do not have: 2 to 4 in recordings of whole machines.
constexpr std::uint64_t kFramesPerStack = 3;

}  // namespace

FrameRebaser::FrameRebaser(const Tables& tables, std::uint64_t stacks)
    : tables_(tables), modules_used_(tables.symbols.modules().size()) {
  const std::uint64_t frames = std::min<std::uint64_t>(stacks * kFramesPerStack, kMostKnown);
  known_.reserve(static_cast<std::size_t>(frames));
  while (index_.slot_count() < frames * 2) {
    index_.grow([](std::uint32_t) { return std::uint64_t{0}; });  // nothing is in it
  }
}

std::uint64_t FrameRebaser::address_of(const Frame& frame, AddressUse use, const Context& context) {
  const Symbols& symbols = tables_.symbols;
  const CodeLocation location = symbols.locate(frame, context.pid, context.time_ns, use);
  std::uint64_t offset = 0;
  std::uint32_t image = 0;
  // What is a name has no offset, even if it is known to be in an image.
  if (location.has_address &&
      place_of(location, symbols.modules(), tables_.images, offset, image) &&
      offset <= tables_.places.extent(image)) {
    return tables_.places.base(image) + offset;
  }
  NameUnion::NamedCode name;
  if (name_of(location, tables_.calls, name)) {
    // With the code that is known there, else as a whole.
    for (const bool has_code : {true, false}) {
      name.has_code = has_code;
      if (const auto address = tables_.names.address_of(symbols.names(), name)) {
        return *address;
      }
    }
  }
  if (location.module != nullptr) {
    modules_used_[static_cast<std::size_t>(location.module - symbols.modules().data())] = true;
  }
  const bool moved = RebasedAddresses::in_range(frame.address);
  unplaced_.moved += moved ? 1 : 0;
  unplaced_.kernel += !moved && frame.mode == FrameMode::kKernel ? 1 : 0;
  return moved ? RebasedAddresses::moved_away(frame.address) : frame.address;
}

void FrameRebaser::rebase(std::span<const Frame> leaf_first, const Context& context,
                          std::vector<Frame>& rebased) {
  if (known_.size() > kMostKnown) {
    forget();
  }
  if (context.user != path_user_ || context.kernel != path_kernel_) {
    walk_.clear();
    path_user_ = context.user;
    path_kernel_ = context.kernel;
  }
  const auto use_of = [&](std::size_t index) {
    return tables_.symbols.use_of(leaf_first, index, context.pid, context.time_ns);
  };
  const auto look_up = [&](const query::PlacedFrame& placed, std::size_t, const std::uint64_t*) {
    return std::optional(known_address(placed.frame, placed.use, context));
  };
  walk_.go_on(leaf_first, use_of, look_up);
  rebased.resize(leaf_first.size());
  auto to = rebased.rbegin();
  for (const auto& [placed, address] : walk_.path()) {
    *to++ = {placed.frame.mode, address};
  }
}

FrameRebaser::Key FrameRebaser::key_of(const Frame& frame, AddressUse use, const Context& context) {
  const bool shared = frame.mode == FrameMode::kKernel || RebasedAddresses::in_range(frame.address);
  return {frame.address, shared ? context.kernel : context.user, frame.mode, use};
}

std::uint64_t FrameRebaser::known_address(const Frame& frame, AddressUse use,
                                          const Context& context) {
  const Key key = key_of(frame, use, context);
  const auto fresh = static_cast<std::uint32_t>(known_.size());
  const std::uint32_t number = index_.find_or_insert(
      hash_of(key), fresh, [&](std::uint32_t i) { return known_[i].key == key; },
      [this](std::uint32_t i) { return hash_of(known_[i].key); });
  if (number == fresh) {
    known_.push_back({key, address_of(frame, use, context)});
  }
  return known_[number].address;
}

void FrameRebaser::forget() {
  known_.clear();
  index_.clear();
  walk_.clear();
}

}  // namespace stackpack::app
