#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "capture/payload_schema.h"
#include "stackpack/model.h"
#include "stackpack/result.h"

namespace stackpack::capture {

/// An event with its payload. Spans and texts are valid during the call.
struct PayloadEvent {
  std::uint64_t time_ns = 0;
  std::uint32_t pid = kUnknownId;
  std::uint32_t tid = kUnknownId;
  std::string_view provider;              ///< its name; its GUID where nobody knows that
  std::string_view name;                  ///< "Provider/Task/Opcode"
  const PayloadSchema* schema = nullptr;  ///< null or empty: the capture does not say
  std::span<const std::byte> payload;
  unsigned pointer_size = 8;
};

/// Takes events as they are recorded, of the providers that it wants.
class PayloadSink {
 public:
  PayloadSink() = default;
  PayloadSink(const PayloadSink&) = delete;
  PayloadSink& operator=(const PayloadSink&) = delete;
  virtual ~PayloadSink() = default;

  /// By name or GUID. The answer for a provider never changes.
  virtual bool wants(std::string_view provider) = 0;

  /// In the order of the file. Errors end the reading.
  virtual Status event(const PayloadEvent& event) = 0;

  /// Descriptions that come after the events which they describe: a capture with such is read
  /// twice.
  [[nodiscard]] PayloadSchemas& schemas() { return schemas_; }

 private:
  PayloadSchemas schemas_;
};

}  // namespace stackpack::capture
