#pragma once

#include <cstddef>
#include <span>

#include "unwind/machine.h"

namespace stackpack::unwind {

/// The longest instruction that calls has so many bytes, prefixes left out.
inline constexpr std::size_t kMostCallBytes = 7;

/// Whether code ends with an instruction that calls, so that a return address may follow. Of
/// x86-64, whose instructions cannot be read backwards, other bytes may look so: one random place
/// in 50. Source: Intel's manual, volume 2, CALL; Arm's Architecture Reference Manual, BL and BLR.
bool ends_with_call(Machine machine, std::span<const std::byte> code);

}  // namespace stackpack::unwind
