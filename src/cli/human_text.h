// Numbers as a person reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stackpack::cli {

/// 1,234,567
std::string grouped(std::uint64_t number);

/// `1 file`, `2 files`.
std::string counted(std::uint64_t count, std::string_view noun);

/// 999 B, 12.3 KiB, 4.00 MiB: three digits that count.
std::string human_bytes(std::uint64_t bytes);

/// 0.35 s, 12.3 s, 3 min 20 s, 2 h 05 min.
std::string human_seconds(double seconds);

/// 12.3 %, with enough digits for small shares.
std::string human_share(std::uint64_t part, std::uint64_t whole);

/// 39.3x; more digits below 1 (0.042x), and "-" for 0, where there was nothing to compare.
std::string human_ratio(double ratio);

/// A size with an optional unit: 4096, 64KiB, 64MiB, 2GiB, 1.5G, 10MB. Units of 1024 are K, M, G, T
/// and KiB...; KB, MB, GB, TB are units of 1000. Nothing when the text is no size.
std::optional<std::uint64_t> parse_size(std::string_view text);

/// A span of time with its unit: 10ns, 1us, 250us, 1ms, 0.5s. Nothing when the text is none, is no
/// whole number of nanoseconds, or has no unit.
std::optional<std::uint64_t> parse_time_step(std::string_view text);

/// The same as text, with the largest unit that it is a whole number of: 250 us.
std::string time_step_text(std::uint64_t step_ns);

/// Seconds and nine digits: 12.000000345.
std::string seconds_text(std::uint64_t time_ns);

/// Milliseconds and six digits: 0.123456.
std::string milliseconds_text(std::uint64_t time_ns);

}  // namespace stackpack::cli
