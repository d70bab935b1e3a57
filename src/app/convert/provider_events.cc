#include "app/convert/provider_events.h"

#include <bit>
#include <set>

#include <fmt/format.h>

#include "app/convert/capture_probe.h"
#include "bytes/byte_text.h"
#include "capture/fact_sink.h"
#include "capture/payload_schema.h"
#include "core/guard.h"
#include "io/directories.h"
#include "query/name_pattern.h"

namespace stackpack::app {

namespace {

class EventDecoding final : public capture::PayloadSink {
 public:
  static constexpr std::size_t kMostProviders = 1000;

  EventDecoding(const std::string& pattern, ProviderEventCounts& counts,
                const std::function<Status(const ProviderEvent&)>& visit)
      : pattern_(pattern), counts_(counts), visit_(visit) {}

  /// Until then nothing is wanted but descriptions.
  void begin() { begun_ = true; }

  bool wants(std::string_view provider) override {
    if (!begun_) {
      return false;
    }
    const bool fits = query::fits_pattern(provider, pattern_);
    if (!fits && providers_.size() < kMostProviders) {
      providers_.emplace(provider);
    }
    return fits;
  }

  Status event(const capture::PayloadEvent& event) override {
    ++counts_.events;
    const bool described = event.schema != nullptr && !event.schema->empty();
    const capture::PayloadSchema nothing;
    const bool fits =
        decoder_.decode(described ? *event.schema : nothing, event.payload, event.pointer_size);
    ProviderEvent decoded{event.time_ns,  event.pid,  event.tid,
                          event.provider, event.name, decoder_.fields()};
    if ((described && fits) || event.payload.empty()) {
      return visit_(decoded);
    }
    ++(described ? counts_.misfits : counts_.undescribed);
    fields_ = decoder_.fields();
    fields_.push_back({"payload", false, {whole(event.payload)}});
    decoded.fields = fields_;
    return visit_(decoded);
  }

  void finish() { counts_.providers.assign(providers_.begin(), providers_.end()); }

 private:
  static capture::PayloadValue whole(std::span<const std::byte> payload) {
    capture::PayloadValue value;
    value.form = capture::PayloadValue::Form::kText;
    for (const std::byte byte : payload) {
      bytes::append_hex(value.text, std::to_integer<std::uint64_t>(byte), 2);
    }
    return value;
  }

  const std::string& pattern_;
  ProviderEventCounts& counts_;
  const std::function<Status(const ProviderEvent&)>& visit_;
  capture::PayloadDecoder decoder_;
  std::vector<capture::DecodedField> fields_;
  std::set<std::string, std::less<>> providers_;
  bool begun_ = false;
};

Status read_once(CaptureInput& capture, const capture::ReadControl& control,
                 EventDecoding& decoding) {
  capture::FactSink sink(&decoding);
  const Result<capture::ByteAccount> account = capture.read(sink, control);
  return account ? Status() : Status(account.error());
}

}  // namespace

void append_payload_value(std::string& text, const capture::PayloadValue& value) {
  using Form = capture::PayloadValue::Form;
  switch (value.form) {
    case Form::kSigned:
      text += std::to_string(static_cast<std::int64_t>(value.bits));
      break;
    case Form::kHex:
      text += fmt::format("0x{:x}", value.bits);
      break;
    case Form::kReal:
      text += fmt::format("{}", std::bit_cast<double>(value.bits));
      break;
    case Form::kBool:
      text += value.bits != 0 ? "true" : "false";
      break;
    case Form::kText:
      text += value.text;
      break;
    default:
      text += std::to_string(value.bits);
      break;
  }
}

Result<ProviderEvents> ProviderEvents::open(const std::string& path,
                                            const ConvertOptions& options) {
  return core::guarded([&]() -> Result<ProviderEvents> {
    if (looks_like_packed(path)) {
      return Error{ErrorCode::kUsage, kNoOffset,
                   "a .spk file does not keep the fields of all events; give the capture"};
    }
    std::vector<FormatTried> tried;
    Result<CaptureInput> capture =
        CaptureInput::open(path, options, io::temporary_directory(), tried);
    if (!capture) {
      return capture.error();
    }
    if (!capture->format().has_payloads) {
      return Error{ErrorCode::kUsage, kNoOffset, "events of this format have no providers"};
    }
    return ProviderEvents(std::move(*capture));
  });
}

Result<ProviderEventCounts> ProviderEvents::visit(
    const std::string& pattern, const capture::ReadControl& control,
    const std::function<Status(const ProviderEvent&)>& visit) {
  return core::guarded([&]() -> Result<ProviderEventCounts> {
    ProviderEventCounts counts;
    EventDecoding decoding(pattern, counts, visit);
    if (capture_.format().describes_payloads_late) {
      if (const Status read = read_once(capture_, control, decoding); !read) {
        return read.error();
      }
    }
    decoding.begin();
    if (const Status read = read_once(capture_, control, decoding); !read) {
      return read.error();
    }
    decoding.finish();
    return counts;
  });
}

}  // namespace stackpack::app
