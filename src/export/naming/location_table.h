#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/module_map.h"
#include "export/naming/string_table.h"
#include "export/selection/capture_view.h"
#include "stackpack/export.h"

namespace stackpack::exporting {

inline constexpr std::uint32_t kNoImage = ~std::uint32_t{0};

/// When two mapped modules are the same image to an export.
enum class ImageIdentity : std::uint8_t {
  kFile,     ///< same path and build id: locations are offsets in a file
  kMapping,  ///< same file at the same addresses as well: locations are addresses
};

/// A place in code, as an export names it.
struct Location {
  std::uint32_t image = kNoImage;  ///< number of an image
  FrameMode mode = FrameMode::kUnknown;
  std::uint64_t address = 0;  ///< offset in the image (kFile) or address (kMapping, or no image)

  friend bool operator==(const Location&, const Location&) = default;
};

/// Numbers the locations of frames, and tells their names.
///
/// With Naming::kText two locations are one when their text is the same; otherwise when image, mode
/// and address are.
class LocationTable {
 public:
  struct Naming {
    ImageIdentity identity = ImageIdentity::kFile;
    FrameStyle style = FrameStyle::kModule;
    bool by_text = false;          ///< number by text
    bool annotate_kernel = false;  ///< `_[k]` behind the text of kernel frames
    char separator = '\0';         ///< a character that text must not have; it becomes ':'
  };

  LocationTable(const CaptureView& view, const Naming& naming);

  /// The number of the frame's location in a mapping context.
  std::uint32_t intern(std::uint32_t pid, std::uint64_t time_ns, const Frame& frame);

  /// The number of a location which is nothing but text. Only with Naming::by_text.
  std::uint32_t intern_text(std::string_view text);

  [[nodiscard]] std::size_t size() const {
    return naming_.by_text ? texts_.size() : locations_.size();
  }
  /// Only without Naming::by_text.
  [[nodiscard]] const Location& location(std::uint32_t number) const { return locations_[number]; }
  void append_text(std::uint32_t number, std::string& out) const;
  /// The address alone, `0xaddress`; the name of a frame that has no address.
  void append_address(std::uint32_t number, std::string& out) const;

  /// Number of images; each stands for modules alike, of which `module_of_image` is the first.
  [[nodiscard]] std::size_t image_count() const { return module_of_image_.size(); }
  [[nodiscard]] const Module& module_of_image(std::uint32_t image) const {
    return view_.modules[module_of_image_[image]];
  }
  /// True for the module of a frame which has a name and no address (of an imported profile).
  [[nodiscard]] bool is_synthetic(const Module& module) const;
  /// Last part of the module's path.
  static std::string_view file_name(const Module& module);

 private:
  struct LocationHash {
    std::size_t operator()(const Location& location) const;
  };

  [[nodiscard]] Location locate(std::uint32_t pid, std::uint64_t time_ns, const Frame& frame) const;
  void append_text(const Location& location, std::string& out) const;
  void number_images();

  const CaptureView& view_;
  Naming naming_;
  bool synthetic_frames_;
  capture::ModuleMap modules_;
  std::vector<std::uint32_t> image_of_module_;
  std::vector<std::uint32_t> module_of_image_;
  std::unordered_map<Location, std::uint32_t, LocationHash> numbers_;
  std::vector<Location> locations_;
  StringTable texts_;
  std::string scratch_;
};

}  // namespace stackpack::exporting
