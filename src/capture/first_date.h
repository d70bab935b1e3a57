// Which times are dates.
#pragma once

#include <cstdint>

namespace stackpack::capture {

/// Times since then, in 1973, are dates. Earlier ones, which files have that say to count from
/// 1970, are those of a clock that began with the machine or of another unit.
inline constexpr std::uint64_t kFirstDateNs = 100'000'000'000'000'000;

}  // namespace stackpack::capture
