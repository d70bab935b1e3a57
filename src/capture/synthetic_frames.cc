#include "capture/synthetic_frames.h"

#include <array>
#include <bit>

#include "bytes/byte_text.h"
#include "capture/code_fact.h"

namespace stackpack::capture {

namespace {

template <typename T>
void append_number(T value, std::string& out) {
  const auto raw = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
  out += bytes::text_of(raw);
}

}  // namespace

std::optional<std::uint64_t> SyntheticFrames::address_of(const FunctionFact& function) {
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
  if (const std::uint32_t known = keys_.find(key_); known != core::StringTable::kNone) {
    return kFirstAddress + known;
  }
  if (keys_.size() >= kMostNames || key_.size() > kMostBytes - bytes_) {
    return std::nullopt;
  }
  if (keys_.size() == 0) {
    system_.metadata(kMetadataKey, "1");
  }
  bytes_ += key_.size();
  const std::uint64_t address = kFirstAddress + keys_.intern(key_);
  FunctionFact fact = function;
  fact.owner = FunctionOwner::kKernel;
  fact.start = address;
  fact.size = 1;
  system_.functions().add(fact);
  return address;
}

}  // namespace stackpack::capture
