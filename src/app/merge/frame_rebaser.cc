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

// What is a name has no offset, even if it is known to be in an image.
std::optional<std::uint64_t> FrameRebaser::address_in_image(const CodeLocation& location) const {
  std::uint64_t offset = 0;
  std::uint32_t image = 0;
  if (location.has_address &&
      place_of(location, tables_.symbols.modules(), tables_.images, offset, image) &&
      offset <= tables_.places.extent(image)) {
    return tables_.places.base(image) + offset;
  }
  return std::nullopt;
}

// Of what has no place in the merge: its own address, unless that lies where places are.
std::uint64_t FrameRebaser::kept_address(const Frame& frame, const CodeLocation& location) {
  if (location.module != nullptr) {
    const Module* const first = tables_.symbols.modules().data();
    modules_used_[static_cast<std::size_t>(location.module - first)] = true;
  }
  const bool moved = RebasedAddresses::in_range(frame.address);
  unplaced_.moved += moved ? 1 : 0;
  return moved ? RebasedAddresses::moved_away(frame.address) : frame.address;
}

std::uint64_t FrameRebaser::address_of(const Frame& frame, AddressUse use, const Context& context) {
  const Symbols& symbols = tables_.symbols;
  const CodeLocation location = symbols.locate(frame, context.pid, context.time_ns, use);
  if (const auto address = address_in_image(location)) {
    return *address;
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
  const std::uint64_t kept = kept_address(frame, location);
  unplaced_.kernel += kept == frame.address && frame.mode == FrameMode::kKernel ? 1 : 0;
  return kept;
}

std::uint64_t FrameRebaser::address_of_end(const Frame& end, const Context& context) {
  const CodeLocation location =
      tables_.symbols.locate(end, context.pid, context.time_ns, AddressUse::kExact);
  const auto address = address_in_image(location);
  return address ? *address : kept_address(end, location);
}

template <typename AddressOf>
std::uint64_t FrameRebaser::known_address(const Key& key, const AddressOf& address_of) {
  const auto fresh = static_cast<std::uint32_t>(known_.size());
  const std::uint32_t number = index_.find_or_insert(
      hash_of(key), fresh, [&](std::uint32_t i) { return known_[i].key == key; },
      [this](std::uint32_t i) { return hash_of(known_[i].key); });
  if (number == fresh) {
    known_.push_back({key, address_of()});
  }
  return known_[number].address;
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
    return std::optional(known_address(key_of(placed.frame, placed.use, context), [&] {
      return address_of(placed.frame, placed.use, context);
    }));
  };
  walk_.go_on(leaf_first, use_of, look_up);
  rebased.resize(leaf_first.size());
  auto to = rebased.rbegin();
  for (const auto& [placed, address] : walk_.path()) {
    *to++ = {placed.frame.mode, address};
  }
}

std::uint64_t FrameRebaser::rebase_end(std::uint64_t address, const Context& context) {
  if (known_.size() > kMostKnown) {
    forget();
  }
  const Frame end{address >> 63U != 0 ? FrameMode::kKernel : FrameMode::kUser, address};
  Key key = key_of(end, AddressUse::kExact, context);
  key.is_end = true;
  return known_address(key, [&] { return address_of_end(end, context); });
}

FrameRebaser::Key FrameRebaser::key_of(const Frame& frame, AddressUse use, const Context& context) {
  const bool shared = frame.mode == FrameMode::kKernel || RebasedAddresses::in_range(frame.address);
  return {frame.address, shared ? context.kernel : context.user, frame.mode, use};
}

void FrameRebaser::forget() {
  known_.clear();
  index_.clear();
  walk_.clear();
}

}  // namespace stackpack::app
