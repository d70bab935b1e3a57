#include "capture/payload_schema.h"

#include <utility>

namespace stackpack::capture {

namespace {

std::size_t bytes_of(const PayloadSchema& schema) {
  std::size_t bytes = 0;
  for (const PayloadField& field : schema) {
    bytes += sizeof(PayloadField) + field.name.size() + bytes_of(field.members);
  }
  return bytes;
}

}  // namespace

void PayloadSchemas::add(std::string key, const DescribedEvent& event) {
  constexpr std::size_t kOfRow = 128;
  const std::size_t bytes =
      kOfRow + key.size() + event.name.size() + event.provider.size() + bytes_of(event.schema);
  if (bytes_ + bytes <= kMostBytes && events_.try_emplace(std::move(key), event).second) {
    bytes_ += bytes;
  }
}

const DescribedEvent* PayloadSchemas::find(std::string_view key) const {
  const auto found = events_.find(key);
  return found == events_.end() ? nullptr : &found->second;
}

}  // namespace stackpack::capture
