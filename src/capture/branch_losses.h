// Names of the counters about branches. They are stored and shown: a name never changes.
// docs/branches.md explains each.
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
