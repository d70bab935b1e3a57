// Names of the counters of what recorders of branches, of event values and of texts leave out, for
// any format. They are stored and shown: a name never changes. docs/branches.md,
// docs/event-values.md and docs/cli.md explain each.
#pragma once

#include <array>
#include <string_view>

namespace stackpack::capture::branch_loss {

/// Notices: neighbours in branch stacks that give no range, and ends of branches without image.
inline constexpr std::string_view kBackward = "branch_ranges_backward";
inline constexpr std::string_view kAcrossImages = "branch_ranges_across_images";
inline constexpr std::string_view kWithoutImage = "branch_ranges_without_image";
inline constexpr std::string_view kEndsWithoutImage = "branch_ends_without_image";

/// Damage: branch stacks that were to be kept, and for whose branches there was no memory.
inline constexpr std::string_view kStacksOverLimit = "branch_stacks_over_limit";

inline constexpr std::array kAll{kBackward, kAcrossImages, kWithoutImage, kEndsWithoutImage,
                                 kStacksOverLimit};

}  // namespace stackpack::capture::branch_loss

namespace stackpack::capture::text_loss {

/// Notice: names and paths of code beyond 64 KiB, and reasons of waits beyond 255 bytes: the rest
/// of them is gone.
inline constexpr std::string_view kCut = "texts_cut";

}  // namespace stackpack::capture::text_loss

namespace stackpack::capture::value_loss {

/// Damage: texts or names of files beyond the memory for them; their fields are empty.
inline constexpr std::string_view kTextsOverLimit = "event_value_texts_over_limit";
/// Damage: payloads that are too short for what their event says.
inline constexpr std::string_view kBadValues = "bad_event_values";

/// Notice: reads and writes whose begin was forgotten before their end, for want of memory: they
/// have no callstack, or no latency.
inline constexpr std::string_view kForgottenRequests = "forgotten_io_requests";

inline constexpr std::array kAll{kTextsOverLimit, kBadValues, kForgottenRequests};

}  // namespace stackpack::capture::value_loss
