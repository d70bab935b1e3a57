#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "stackpack/model.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// The images of a merge, each with a place of its own in the address space that a merged file has
/// (capture::RebasedAddresses).
///
/// An image is known by its build id, else by its path and its extent. Places follow from the set
/// of images and their largest extents, not from the order in which they came.
/// Use: add() all, then place() once; add() of a known image works at any time.
class ImageTable {
 public:
  /// The number of the image that `module` is a mapping of. `extent`: its bytes as far as this
  /// mapping shows, at most RebasedAddresses::kMostExtent.
  std::uint32_t add(const Module& module, std::uint64_t extent);

  /// Gives all images their places. Errors: kLimit: there is no room for all.
  Status place();

  /// After place(): the address of the first byte of an image.
  [[nodiscard]] std::uint64_t base(std::uint32_t image) const { return images_[image].base; }
  [[nodiscard]] std::uint64_t extent(std::uint32_t image) const { return images_[image].extent; }
  /// After place(): the row of an image in modules().
  [[nodiscard]] std::uint32_t row(std::uint32_t image) const { return images_[image].row; }

  /// After place(): a row per image, of kKernelPid, by base.
  [[nodiscard]] std::vector<Module> modules() const;

 private:
  /// Kind, build id or path, extent if there is no build id.
  using Identity = std::tuple<BuildIdKind, std::string, std::uint64_t>;
  struct Image {
    std::uint64_t extent = 0;
    std::string path;
    std::string debug_name;
    std::uint64_t base = 0;
    std::uint32_t row = 0;
  };

  std::map<Identity, std::uint32_t> numbers_;
  std::vector<Image> images_;
};

/// What a module of an input is in a merge.
struct InputImage {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::uint32_t image = kNone;  ///< kNone: no file; its addresses stay
  std::uint64_t shift = 0;      ///< offset in the merge = offset in the file - shift, modulo 2^64
};

/// The images of all modules of an input, which are added to `images`. `metadata` say where the
/// kernel was; `merged`: the input is a merged file, whose images begin at their bases.
std::vector<InputImage> input_images(std::span<const Module> modules,
                                     std::span<const MetadataEntry> metadata, bool merged,
                                     ImageTable& images);

}  // namespace stackpack::app
