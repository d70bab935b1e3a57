// The payload in which the .NET runtime describes a method that it made code of: the same bytes in
// every format that carries its events, and in processes of both pointer sizes.
//
//   u64 method, u64 module, u64 start, u32 size, u32 token, u32 flags,
//   UTF-16 namespace with class, UTF-16 name, UTF-16 signature
//   version 1: u16 runtime instance; version 2: u64 version of the code. Later ones may have more.
//
// Source: the manifest of the provider, as Microsoft's documentation of method events has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/function_fact.h"
#include "capture/loss_counters.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::dotnet {

/// A payload, and the version of its event. Without one the version of the code is where the
/// payload is long enough.
struct MethodPayload {
  std::span<const std::byte> bytes;
  std::optional<unsigned> version;
};

/// Sets what the payload says in `fact`: start, size, id, source. `name` is replaced, fact.name is
/// left alone. False: the payload is too short, or a text in it has no end.
bool read_method(const MethodPayload& payload, capture::FunctionFact& fact, std::string& name);

/// The same without the name, which read_method_name() finds in the payload later. False: the
/// payload is not one of those that can be read so, and may be good nevertheless.
bool read_method_but_name(const MethodPayload& payload, capture::FunctionFact& fact);

/// Replaces `name` by that of the method whose payload this is. False: it has none.
bool read_method_name(std::span<const std::byte> payload, std::string& name);

/// Which module the method is of: the number that module events have, too. 0: the payload is short.
std::uint64_t module_of_method(std::span<const std::byte> payload);

/// Names of methods, read from the payloads of their events in the capture once more.
class MethodNames final : public capture::NameSource {
 public:
  /// `capture` and `losses` must outlive this. `bad_method`: what a payload without a name counts
  /// as.
  MethodNames(io::ByteSource& capture, capture::LossCounters& losses, std::string_view bad_method)
      : capture_(capture), losses_(losses), bad_method_(bad_method) {}

  /// `offset` and `bytes`: of a payload in the file.
  Result<bool> read(std::uint64_t offset, std::uint32_t bytes, std::string& name) override;

 private:
  io::ByteSource& capture_;
  capture::LossCounters& losses_;
  std::string_view bad_method_;
  std::vector<std::byte> payload_;
};

}  // namespace stackpack::dotnet
