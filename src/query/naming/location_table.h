#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/number_table.h"
#include "core/string_table.h"
#include "query/selection/sample_selection.h"
#include "stackpack/export.h"

namespace stackpack::query {

inline constexpr std::uint32_t kNoImage = ~std::uint32_t{0};
inline constexpr std::uint32_t kNoCode = ~std::uint32_t{0};

/// When two mapped modules are the same image to an export.
enum class ImageIdentity : std::uint8_t {
  kFile,     ///< same path and build id: locations are offsets in a file
  kMapping,  ///< same file at the same addresses as well: locations are addresses
};

/// A function, as exports list it: texts are numbers for LocationTable::text, 0 is the empty one.
struct FunctionName {
  std::uint32_t name = 0;
  std::uint32_t linkage = 0;  ///< as linked
  std::uint32_t file = 0;
  std::uint32_t start_line = 0;                      ///< 0: not known
  FunctionSource source = FunctionSource::kUnknown;  ///< who named it
  bool made_at_run_time = false;                     ///< its bytes are of no file
  std::uint32_t row = kNoRow;  ///< Naming::by_range: of the functions of the file

  // NOLINTNEXTLINE(modernize-use-nullptr): the compiler's own comparison
  friend auto operator<=>(const FunctionName&, const FunctionName&) = default;
};

/// A function that a location belongs to, and the one it was inlined into.
struct SourcePlace {
  std::uint32_t function = 0;
  std::uint32_t line = 0;         ///< in the file of the function; 0: not known
  std::uint32_t outer = kNoCode;  ///< place of the call, in the function this one was inlined into

  // NOLINTNEXTLINE(modernize-use-nullptr): the compiler's own comparison
  friend auto operator<=>(const SourcePlace&, const SourcePlace&) = default;
};

/// A place in code, as an export names it.
struct Location {
  std::uint32_t image = kNoImage;  ///< number of an image
  FrameMode mode = FrameMode::kUnknown;
  /// Offset in the file of the image (kFile), or address (kMapping, or no image).
  std::uint64_t address = 0;
  /// `address` is a return address, kept as recorded (Naming::recorded).
  bool returns = false;
  bool has_address = true;         ///< false: a frame of an imported profile is a name only
  std::uint32_t code = kNoCode;    ///< number of the innermost SourcePlace; none without a name
  std::uint32_t inline_depth = 0;  ///< Naming::unfold: calls inlined around this one

  friend bool operator==(const Location&, const Location&) = default;
};

/// Numbers the locations of frames, and names them: the one road by which a frame becomes
/// text or a place in an image.
///
/// The place of a caller is the byte before its return address. Where no image has that byte, but
/// one has the address itself, the frame was no return address, and that is its place. So is the
/// address of a frame that is nothing but a name.
///
/// Images with one file name and different build ids are told apart: `name[1a2b3c4d]+0xoffset`;
/// functions that have one name in several images likewise: `module!function`.
///
/// With Naming::by_text two locations are one when their text is the same; otherwise when image,
/// mode, address and names are.
class LocationTable {
 public:
  struct Naming {
    ImageIdentity identity = ImageIdentity::kFile;
    FrameStyle style = FrameStyle::kFunction;
    bool by_text = false;          ///< number by text
    bool annotate_kernel = false;  ///< `_[k]` after the text of kernel frames
    char separator = '\0';         ///< a character that text must not have; it becomes ':'
    bool recorded = false;         ///< keep return addresses apart, as Location::returns
    bool unfold = false;           ///< a location for each inlined call: see parts()
    /// All addresses of a function are one location, without address and line.
    bool by_function = false;
    bool by_range = false;  ///< functions with one name are apart where their bytes are
  };

  /// The selection must outlive the table.
  LocationTable(const SampleSelection& selection, const Naming& naming);

  /// The number of the frame's location in a mapping context. `returns`: the frame is a return
  /// address.
  std::uint32_t intern(std::uint32_t pid, std::uint64_t time_ns, const Frame& frame,
                       bool returns = false);

  /// The number, as of intern(), of what is a name without an address: frames that BrokenRoots
  /// found, a callstack that is none.
  std::uint32_t name_alone(std::string_view name);

  /// With Naming::unfold, what a number from intern() stands for: the location of each function in
  /// which the frame lies, outermost first. Without it, numbers are those of locations.
  [[nodiscard]] std::span<const std::uint32_t> parts(std::uint32_t number) const {
    return std::span(parts_).subspan(first_part_[number],
                                     first_part_[number + 1] - first_part_[number]);
  }
  [[nodiscard]] bool unfolds() const { return naming_.unfold; }
  /// Numbers that parts() knows.
  [[nodiscard]] std::size_t unfolded_count() const { return first_part_.size() - 1; }

  [[nodiscard]] const std::vector<SourcePlace>& places() const { return places_; }
  [[nodiscard]] const std::vector<FunctionName>& functions() const { return functions_; }
  [[nodiscard]] std::string_view text(std::uint32_t number) const { return names_.text(number); }

  /// The number of a location which is nothing but text. Only with Naming::by_text.
  std::uint32_t intern_text(std::string_view text);

  [[nodiscard]] std::size_t size() const {
    return naming_.by_text ? texts_.size() : locations_.size();
  }
  /// Only without Naming::by_text.
  [[nodiscard]] const Location& location(std::uint32_t number) const { return locations_[number]; }
  void append_text(std::uint32_t number, std::string& out) const;
  /// Whether the text of a location with a name has the image in front. Only without by_text.
  [[nodiscard]] bool is_qualified(std::uint32_t number) const {
    return is_qualified(locations_[number]);
  }
  /// The name of the function, also with Naming::by_function; else the address, `0xaddress`.
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

 private:
  struct LocationHash {
    std::uint64_t operator()(const Location& location) const;
  };
  // What decides the names of an address: pointers into the tables of the view.
  using CodeKey =
      std::tuple<const Function*, const char*, std::uint32_t, std::uint32_t, const char*>;

  [[nodiscard]] Location locate(std::uint32_t pid, std::uint64_t time_ns, const Frame& frame,
                                bool returns);
  std::uint32_t code_of(const CodeLocation& found);
  std::uint32_t place_of(const SourcePlace& place);
  std::uint32_t function_of(const FunctionName& function);
  std::uint32_t number_of(const Location& location);
  std::uint32_t unfolded(const Location& location);
  void append_text(const Location& location, std::string& out) const;
  [[nodiscard]] std::string_view name_of(const Location& location) const;
  [[nodiscard]] bool is_qualified(const Location& location) const;
  [[nodiscard]] std::uint64_t file_offset(const Location& location) const;
  void number_images();
  void name_images();
  void find_ambiguous_names();

  const CaptureView& view_;
  const symbols::SymbolIndex& symbols_;
  Naming naming_;
  std::vector<std::uint32_t> image_of_module_;
  std::vector<std::uint32_t> module_of_image_;
  std::vector<std::string> name_of_image_;
  std::set<std::string_view> ambiguous_names_;  // functions of several images
  core::NumberTable<Location, LocationHash> locations_;
  std::vector<std::uint32_t> text_of_location_;       // Naming::by_text
  core::NumberTable<Location, LocationHash> folded_;  // Naming::unfold: whose parts are in parts_
  std::vector<std::uint32_t> parts_;
  std::vector<std::size_t> first_part_{0};
  core::StringTable names_;
  std::vector<FunctionName> functions_;
  std::map<FunctionName, std::uint32_t> function_numbers_;
  std::vector<SourcePlace> places_;
  std::map<SourcePlace, std::uint32_t> place_numbers_;
  std::map<CodeKey, std::uint32_t> codes_;
  std::vector<InlineFrame> chain_;
  core::StringTable texts_;
  std::string scratch_;
};

}  // namespace stackpack::query
