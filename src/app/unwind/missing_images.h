// What is missing to unwind a capture: kept as facts of the capture, so that a .spk file says long
// after which files would have made its callstacks longer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/unwind/image_store.h"
#include "capture/system_recorder.h"
#include "stackpack/model.h"

namespace stackpack::app {

/// An image whose tables could not be had.
struct MissingImage {
  std::string path;
  std::string build_id;       ///< hex; empty: not recorded
  std::uint64_t samples = 0;  ///< whose callstacks end for want of it
  std::string reason;
};

/// Most images that a file lists; of those with most samples.
inline constexpr std::size_t kMostMissingImages = 1000;

/// Adds the images for want of which callstacks ended to the facts of the capture.
void note_missing_images(std::span<const ImageStore::Image> images,
                         capture::SystemRecorder& system);

/// The images that note_missing_images() noted in `metadata`, most samples first.
std::vector<MissingImage> missing_images(std::span<const MetadataEntry> metadata);

}  // namespace stackpack::app
