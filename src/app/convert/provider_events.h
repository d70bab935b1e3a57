// Events of a capture with their fields.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/convert/capture_input.h"
#include "capture/payload_decoder.h"
#include "capture/read_control.h"
#include "stackpack/convert.h"
#include "stackpack/model.h"
#include "stackpack/result.h"

namespace stackpack::app {

struct ProviderEvent {
  std::uint64_t time_ns = 0;
  std::uint32_t pid = kUnknownId;
  std::uint32_t tid = kUnknownId;
  std::string_view provider;
  std::string_view name;  ///< "Provider/Task/Opcode"
  /// In their order. Of an event that the capture does not describe, or that is not as described:
  /// what could be read, then "payload" with all bytes.
  std::span<const capture::DecodedField> fields;
};

struct ProviderEventCounts {
  std::uint64_t events = 0;
  std::uint64_t undescribed = 0;       ///< the capture does not say what is in them
  std::uint64_t misfits = 0;           ///< they are not as the capture says
  std::vector<std::string> providers;  ///< of the capture, in order, without those that fit
};

/// A value as text, as it is listed: numbers in decimal digits, those that are shown so in
/// hexadecimal ones, texts as they are.
void append_payload_value(std::string& text, const capture::PayloadValue& value);

/// A capture whose events have fields, open.
class ProviderEvents {
 public:
  /// Errors: kUsage for a .spk file, and for captures whose events have no fields; those of
  /// CaptureInput.
  static Result<ProviderEvents> open(const std::string& path, const ConvertOptions& options);

  /// Every event of the providers that fit `pattern` ('*' stands for any characters), in the order
  /// of the capture. Once only, as a capture may be a stream.
  /// Errors: those of reading and of the visitor.
  Result<ProviderEventCounts> visit(const std::string& pattern, const capture::ReadControl& control,
                                    const std::function<Status(const ProviderEvent&)>& visit);

 private:
  explicit ProviderEvents(CaptureInput capture) : capture_(std::move(capture)) {}

  CaptureInput capture_;
};

}  // namespace stackpack::app
