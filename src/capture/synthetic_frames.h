#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/system_recorder.h"
#include "core/string_table.h"

namespace stackpack::capture {

/// Gives frames that have a name and no address an address, so that the model can hold them.
///
/// What is known of a frame is a function of one byte, which every process has (FunctionOwner::
/// kKernel): frames of mode kUnknown find it. The metadata key "frames.synthetic" is set to "1":
/// with it, addresses of that mode in the range stand for names. (Files of version 1.0 have a
/// module of one byte without a build id in place of the function, with the name for its path.)
/// The addresses lie where no processor has code, and follow the order of first use. Frames of an
/// image have addresses in blocks of it, which are modules that every process has.
class SyntheticFrames {
 public:
  static constexpr std::uint64_t kFirstAddress = 0x5F00'0000'0000'0000;
  static constexpr std::string_view kMetadataKey = "frames.synthetic";
  static constexpr std::uint64_t kMostNames = std::uint64_t{1} << 24;
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

  /// The recorder must outlive the object.
  explicit SyntheticFrames(SystemRecorder& system) : system_(system) {}

  /// The address that stands for the texts, lines and code of `function`, of which owner and range
  /// are not looked at; nothing when there are too many, or their texts are too long in all.
  std::optional<std::uint64_t> address_of(const FunctionFact& function);

  /// An image without addresses: what is known of the file alone.
  struct Image {
    std::string_view path;                        ///< empty: no image
    std::span<const std::uint8_t> build_id = {};  ///< GNU; empty: not known
  };
  /// The same for a frame that lies in `image`.
  std::optional<std::uint64_t> address_of(const FunctionFact& function, const Image& image);

  /// True for an address that may stand for a name.
  static constexpr bool in_range(std::uint64_t address) {
    return address - kFirstAddress < kMostNames;
  }

 private:
  /// Addresses that belong to an image and are not in use yet.
  struct Block {
    std::uint64_t next = 0;
    std::uint64_t end = 0;
    std::uint64_t taken = 0;  // by the image before this block
  };

  void write_key(const FunctionFact& function, const Image& image);
  std::optional<std::uint64_t> next_number(const Image& image);

  SystemRecorder& system_;
  core::StringTable keys_;
  core::StringTable images_;
  std::vector<Block> blocks_;           // by number of the image
  std::vector<std::uint32_t> numbers_;  // by key
  std::uint64_t used_ = 0;
  std::uint64_t bytes_ = 0;
  std::string key_;
  std::string image_key_;
  std::string code_;
};

}  // namespace stackpack::capture
