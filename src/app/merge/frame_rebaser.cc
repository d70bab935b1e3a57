#include "app/merge/frame_rebaser.h"

#include <optional>

#include "capture/rebased_addresses.h"

namespace stackpack::app {

using capture::RebasedAddresses;

std::uint64_t FrameRebaser::address_of(const Frame& frame, AddressUse use, const Context& context) {
  const Symbols& symbols = tables_.symbols;
  const CodeLocation location = symbols.locate(frame, context.pid, context.time_ns, use);
  std::uint64_t offset = 0;
  std::uint32_t image = 0;
  if (place_of(location, symbols.modules(), tables_.images, offset, image) &&
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
  return RebasedAddresses::in_range(frame.address) ? RebasedAddresses::moved_away(frame.address)
                                                   : frame.address;
}

void FrameRebaser::rebase(std::span<const Frame> leaf_first, const Context& context,
                          std::vector<Frame>& rebased) {
  if (known_.size() > kMostKnown) {
    forget();
  }
  rebased.clear();
  for (std::size_t i = 0; i < leaf_first.size(); ++i) {
    const Frame& frame = leaf_first[i];
    const AddressUse use = address_use(leaf_first, i);
    const bool shared =
        frame.mode == FrameMode::kKernel || RebasedAddresses::in_range(frame.address);
    const std::uint32_t number =
        known_.number({frame.address, shared ? context.kernel : context.user, frame.mode, use});
    if (number == addresses_.size()) {
      addresses_.push_back(address_of(frame, use, context));
    }
    rebased.push_back({frame.mode, addresses_[number]});
  }
}

void FrameRebaser::forget() {
  known_.clear();
  addresses_.clear();
}

}  // namespace stackpack::app
