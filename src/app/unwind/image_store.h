#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stackpack/model.h"
#include "symbolize/symbol_files.h"
#include "unwind/code_tables.h"

namespace stackpack::app {

/// Whether `path` is a name that the kernel gives to memory that is no file, or none that could be
/// opened.
bool is_no_file(std::string_view path);

/// How many of the user images of `modules` there are, and of how many a file was found.
struct FoundImages {
  std::size_t found = 0;
  std::size_t all = 0;
};
FoundImages count_found_images(std::span<const Module> modules,
                               const symbolize::SymbolPlaces& places);

/// The files of the images that a capture has mapped, and their unwind tables, opened as they are
/// asked for. A file is used only when its build id is the one that was recorded; where none was
/// recorded, below a root that the user named, or as `places` says of this machine.
///
/// Memory: tables of kMostBytes; beyond, those that were not asked for the longest time go, and are
///         read again when they are asked for.
/// Threads: one at a time.
class ImageStore {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{20} << 20;

  /// Why there are no tables.
  enum class State : std::uint8_t {
    kUnopened,
    kReady,
    kNoCode,   ///< not a file: memory in which code was made at run time
    kMissing,  ///< no file, or none of this build
    kNotElf,   ///< a file without tables that we read: of another machine, or no ELF file
  };
  struct Image {
    std::string path;
    std::vector<std::uint8_t> build_id;  ///< empty: not recorded
    std::vector<symbolize::ImageMapping> mappings{};
    State state = State::kUnopened;
    symbolize::SearchEnd search = symbolize::SearchEnd::kNoFile;
    std::uint64_t samples = 0;  ///< whose callstacks end for want of it
    bool left_out = false;      ///< a section could not be used
    std::unique_ptr<unwind::CodeTables> tables;
    std::uint64_t steps = unwind::CodeTables::kMostSteps;
    std::uint64_t used_at = 0;
  };

  /// `modules`: the table of the capture; images are numbered by first use in it.
  ImageStore(std::span<const Module> modules, symbolize::SymbolPlaces places);

  /// The image of a module.
  [[nodiscard]] std::uint32_t image_of(std::uint32_t module) const { return image_of_[module]; }

  /// The image with its tables, if it has any.
  Image& open(std::uint32_t number);
  Image& image(std::uint32_t number) { return images_[number]; }

  /// Whether the code before `offset` in the file of an image ends with a call. False where the
  /// code is not at hand: of an image without a file, or with a debug file or a bundle alone.
  /// Memory: the last kMostCalls answers.
  bool follows_call(std::uint32_t number, std::uint64_t offset, unwind::Machine machine);

  [[nodiscard]] std::span<const Image> images() const { return images_; }

 private:
  void load(Image& image);
  void load_files(Image& image, symbolize::FoundFiles& found);
  void evict(const Image& except);

  symbolize::SymbolPlaces places_;
  std::vector<Image> images_;
  std::vector<std::uint32_t> image_of_;  // by module
  static constexpr std::size_t kMostCalls = 4096;
  std::map<std::pair<std::uint32_t, std::uint64_t>, bool> calls_;  // by image and offset
  std::size_t bytes_ = 0;
  std::uint64_t clock_ = 0;
};

}  // namespace stackpack::app
