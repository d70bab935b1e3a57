#include "capture/synthetic_frames.h"

#include <algorithm>
#include <array>
#include <bit>

#include "bytes/byte_text.h"
#include "capture/function_fact.h"
#include "stackpack/names.h"

namespace stackpack::capture {

namespace {

template <typename T>
void append_number(T value, std::string& out) {
  const auto raw = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
  out += bytes::text_of(raw);
}

}  // namespace

// What tells a frame from all others.
void SyntheticFrames::write_key(const FunctionFact& function, const Image& image) {
  key_ = function.name;
  write_code(function.code, code_);
  const bool bare =
      function.linkage.empty() && function.file.empty() && function.line == 0 && code_.empty();
  if (!bare) {
    key_ += function.linkage;
    key_ += function.file;
    key_ += code_;
    append_number(function.line, key_);
    append_number(function.name.size(), key_);
    append_number(function.linkage.size(), key_);
    append_number(function.file.size(), key_);
  }
  key_ += bare ? 'n' : 'c';  // so that no name is the key of another frame
  if (!image.path.empty()) {
    key_ += image.path;
    key_ += bytes::text_of(std::as_bytes(image.build_id));
    append_number(image.path.size(), key_);
    append_number(image.build_id.size(), key_);
    key_ += 'i';
  }
  if (!frame_type_of(function.source).empty()) {
    key_ += static_cast<char>(function.source);
    key_ += 's';
  }
}

std::optional<std::uint64_t> SyntheticFrames::address_of(const FunctionFact& function) {
  return address_of(function, {});
}

std::optional<std::uint64_t> SyntheticFrames::next_number(const Image& image) {
  constexpr std::uint64_t kLeast = 16;
  constexpr std::uint64_t kMost = 4096;
  if (image.path.empty()) {
    return used_ < kMostNames ? std::optional(used_++) : std::nullopt;
  }
  image_key_.assign(image.path);
  image_key_ += '\0';
  image_key_ += bytes::text_of(std::as_bytes(image.build_id));
  const std::uint32_t number = images_.intern(image_key_);
  if (number == blocks_.size()) {
    blocks_.emplace_back();
  }
  Block& block = blocks_[number];
  if (block.next == block.end) {
    const std::uint64_t size = std::clamp(block.taken, kLeast, kMost);
    if (size > kMostNames - used_) {
      return std::nullopt;
    }
    Module module;
    module.pid = kKernelPid;
    module.base = kFirstAddress + used_;
    module.size = size;
    module.file_offset = block.taken;
    module.path = image.path;
    module.build_id.assign(image.build_id.begin(), image.build_id.end());
    module.build_id_kind = module.build_id.empty() ? BuildIdKind::kNone : BuildIdKind::kGnu;
    system_.module_mapped(module);
    block = {used_, used_ + size, block.taken + size};
    used_ += size;
  }
  return block.next++;
}

std::optional<std::uint64_t> SyntheticFrames::address_of(const FunctionFact& function,
                                                         const Image& image) {
  write_key(function, image);
  if (const std::uint32_t known = keys_.find(key_); known != core::StringTable::kNone) {
    return kFirstAddress + numbers_[known];
  }
  if (key_.size() > kMostBytes - bytes_) {
    return std::nullopt;
  }
  const std::optional<std::uint64_t> number = next_number(image);
  if (!number) {
    return std::nullopt;
  }
  if (keys_.size() == 0) {
    system_.metadata(kMetadataKey, "1");
  }
  bytes_ += key_.size();
  keys_.intern(key_);
  numbers_.push_back(static_cast<std::uint32_t>(*number));
  const std::uint64_t address = kFirstAddress + *number;
  FunctionFact fact = function;
  fact.owner = FunctionOwner::kKernel;
  fact.start = address;
  fact.size = 1;
  system_.functions().add(fact);
  return address;
}

}  // namespace stackpack::capture
