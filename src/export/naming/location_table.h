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
  /// Offset in the file of the image (kFile), or address (kMapping, or no image).
  std::uint64_t address = 0;
  /// `address` is a return address, kept as recorded (Naming::recorded).
  bool returns = false;

  friend bool operator==(const Location&, const Location&) = default;
};

/// Numbers the locations of frames, and tells their names: the one road by which a frame becomes
/// text or a place in an image.
///
/// The place of a caller is the byte before its return address. Where no image has that byte, but
/// one has the address itself, the frame was no return address, and that is its place. So is the
/// address of a frame that is nothing but a name.
///
/// Images with one file name and different build ids are told apart: `name[1a2b3c4d]+0xoffset`.
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
    bool recorded = false;         ///< keep return addresses apart, as Location::returns
  };

  LocationTable(const CaptureView& view, const Naming& naming);

  /// The number of the frame's location in a mapping context. `returns`: the frame is a return
  /// address.
  std::uint32_t intern(std::uint32_t pid, std::uint64_t time_ns, const Frame& frame,
                       bool returns = false);

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
  /// The row of the module table of which an image is the first.
  [[nodiscard]] std::uint32_t module_row_of_image(std::uint32_t image) const {
    return module_of_image_[image];
  }
  /// Last part of the module's path, with a part of the build id where that name is ambiguous.
  [[nodiscard]] const std::string& image_name(std::uint32_t image) const {
    return name_of_image_[image];
  }
  /// The offset in the file of a location that has an image: where the instruction is, also with
  /// Naming::recorded.
  [[nodiscard]] std::uint64_t file_offset(std::uint32_t number) const {
    return file_offset(locations_[number]);
  }
  /// True for the module of a frame which has a name and no address (of an imported profile).
  [[nodiscard]] bool is_synthetic(const Module& module) const;
  /// Last part of the module's path.
  static std::string_view file_name(const Module& module);

 private:
  struct LocationHash {
    std::size_t operator()(const Location& location) const;
  };

  [[nodiscard]] Location locate(std::uint32_t pid, std::uint64_t time_ns, const Frame& frame,
                                bool returns) const;
  void append_text(const Location& location, std::string& out) const;
  [[nodiscard]] std::uint64_t file_offset(const Location& location) const;
  void number_images();
  void name_images();

  const CaptureView& view_;
  Naming naming_;
  bool synthetic_frames_;
  capture::ModuleMap modules_;
  std::vector<std::uint32_t> image_of_module_;
  std::vector<std::uint32_t> module_of_image_;
  std::vector<std::string> name_of_image_;
  std::unordered_map<Location, std::uint32_t, LocationHash> numbers_;
  std::vector<Location> locations_;
  StringTable texts_;
  std::string scratch_;
};

}  // namespace stackpack::exporting
