#include "formats/perf/namespace_values.h"

#include <algorithm>
#include <array>
#include <optional>

namespace stackpack::perf {

namespace {

constexpr std::array kNames = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};

std::optional<capture::ValueKind> kind_of(capture::ValueRecorder& values) {
  ValueSchema schema{"perf:namespaces", {}};
  for (const char* const name : kNames) {
    schema.fields.push_back({name, ValueType::kNumber});
  }
  return values.own_kind(schema);
}

}  // namespace

bool NamespaceValues::add(bytes::ByteCursor body, std::uint64_t time_ns) {
  capture::RecordedValue value;
  value.pid = body.read<std::uint32_t>();
  value.tid = body.read<std::uint32_t>();
  const auto count = body.read<std::uint64_t>();
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    value.values[i] = kNoValue;
    if (i < count) {
      body.skip(sizeof(std::uint64_t));  // the device
      value.values[i] = body.read<std::uint64_t>();
    }
  }
  const std::optional<capture::ValueKind> kind = kind_of(*values_);
  if (!body.ok() || !kind) {
    return body.ok();
  }
  value.kind = *kind;
  value.time_ns = time_ns;
  if (time_ns != kUnknownTime) {
    first_ns_ = std::min(first_ns_, time_ns);
    values_->add(value);
  } else if (early_.size() < kMostEarly) {
    early_.push_back(value);
  } else {
    early_[static_cast<std::size_t>(early_count_ % kMostEarly)] = value;
  }
  early_count_ += time_ns == kUnknownTime ? 1U : 0U;
  return true;
}

std::uint64_t NamespaceValues::finish(std::uint64_t first_sample_ns) {
  const std::uint64_t first_ns = std::min(first_sample_ns, first_ns_);
  for (capture::RecordedValue& value : early_) {
    value.time_ns = first_ns == kUnknownTime ? 0 : first_ns;
    values_->add(value);
  }
  const std::uint64_t kept = early_.size();
  early_.clear();
  return early_count_ - kept;
}

}  // namespace stackpack::perf
