// Changes .etl files event by event: sizes of events and buffers stay in step.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kBufferHeader = 0x48;
constexpr std::size_t kSavedOffset = 0x04;
constexpr std::size_t kOffset = 0x30;
constexpr std::size_t kFlags = 0x34;
constexpr std::uint8_t kCompressed = 0x40;

std::uint32_t read32(const Bytes& bytes, std::size_t at) {
  return bytes[at] | std::uint32_t{bytes[at + 1]} << 8 | std::uint32_t{bytes[at + 2]} << 16 |
         std::uint32_t{bytes[at + 3]} << 24;
}

void write16(Bytes& bytes, std::size_t at, std::size_t value) {
  bytes[at] = static_cast<std::uint8_t>(value);
  bytes[at + 1] = static_cast<std::uint8_t>(value >> 8);
}

struct Place {
  std::size_t begin = 0;
  std::size_t size = 0;
};

std::vector<Place> buffers_of(const Bytes& bytes) {
  std::vector<Place> buffers;
  std::size_t at = 0;
  while (bytes.size() - at >= kBufferHeader) {
    const std::size_t size = read32(bytes, at);
    if (size < kBufferHeader || size > bytes.size() - at) {
      break;
    }
    buffers.push_back({at, size});
    at += size;
  }
  return buffers;
}

// Where an event has its size: classic kernel events after version and type, others first.
std::size_t size_place(std::uint8_t header_type) {
  return header_type <= 0x04 || header_type == 0x10 || header_type == 0x11 ? 4 : 0;
}

std::vector<Place> events_of(const Bytes& bytes, const Place& buffer) {
  std::vector<Place> events;
  std::size_t at = buffer.begin + kBufferHeader;
  const std::size_t saved = read32(bytes, buffer.begin + kSavedOffset);
  const std::size_t end = buffer.begin + std::min(saved, buffer.size);
  while (at + 8 <= end && (bytes[at + 3] & 0x80U) != 0) {
    const std::size_t place = at + size_place(bytes[at + 2]);
    const std::size_t size = bytes[place] | std::size_t{bytes[place + 1]} << 8;
    if (size < 8 || size > end - at) {
      break;
    }
    events.push_back({at, size});
    at += (size + 7) / 8 * 8;
  }
  return events;
}

// The bytes after the events are free: what grows takes from them.
bool move_tail(Bytes& bytes, const Place& buffer, std::size_t from, std::ptrdiff_t by) {
  const std::size_t saved = read32(bytes, buffer.begin + kSavedOffset);
  const std::ptrdiff_t new_saved = static_cast<std::ptrdiff_t>(saved) + by;
  if (saved > buffer.size || new_saved < static_cast<std::ptrdiff_t>(kBufferHeader) ||
      new_saved > static_cast<std::ptrdiff_t>(buffer.size)) {
    return false;
  }
  const auto at = [&](std::size_t offset) {
    return bytes.begin() + static_cast<std::ptrdiff_t>(offset);
  };
  const std::size_t end = buffer.begin + saved;
  if (by > 0) {
    std::copy_backward(at(from), at(end), at(end) + by);
  } else {
    std::copy(at(from) - by, at(end), at(from));
  }
  for (const std::size_t place : {kSavedOffset, kOffset}) {
    write16(bytes, buffer.begin + place, static_cast<std::size_t>(new_saved) & 0xFFFF);
    write16(bytes, buffer.begin + place + 2, static_cast<std::size_t>(new_saved) >> 16);
  }
  return true;
}

void change_header(Bytes& bytes, const Place& event, std::mt19937& random) {
  constexpr std::uint8_t kHeaderTypes[] = {1,    2,    3,    4,    0x0A, 0x0B, 0x0C,
                                           0x10, 0x11, 0x12, 0x13, 0x14, 0x15};
  constexpr std::uint8_t kGroups[] = {0, 1, 2, 3, 5, 6, 0x0B, 0x0F, 0x14, 0x18};
  constexpr std::uint8_t kTypes[] = {0,  1,  2,  3,  4,  5,  10, 11, 12, 13, 14, 15, 32,
                                     33, 34, 35, 36, 37, 39, 46, 47, 50, 64, 66, 67, 80};
  switch (random() % 4) {
    case 0:
      bytes[event.begin + 2] = kHeaderTypes[random() % std::size(kHeaderTypes)];
      break;
    case 1:
      bytes[event.begin] = static_cast<std::uint8_t>(random() % 6);
      break;
    case 2:
      bytes[event.begin + 7] = kGroups[random() % std::size(kGroups)];
      break;
    default:
      bytes[event.begin + 6] = kTypes[random() % std::size(kTypes)];
      break;
  }
}

bool change(Bytes& bytes, std::mt19937& random) {
  const std::vector<Place> buffers = buffers_of(bytes);
  if (buffers.empty()) {
    return false;
  }
  const Place& buffer = buffers[random() % buffers.size()];
  if ((bytes[buffer.begin + kFlags] & kCompressed) != 0 || random() % 16 == 0) {
    LLVMFuzzerMutate(&bytes[buffer.begin], buffer.size, buffer.size);
    return true;
  }
  const std::vector<Place> events = events_of(bytes, buffer);
  if (events.empty()) {
    return false;
  }
  const Place& event = events[random() % events.size()];
  const std::size_t aligned = (event.size + 7) / 8 * 8;
  switch (random() % 8) {
    case 0:
      return move_tail(bytes, buffer, event.begin, -static_cast<std::ptrdiff_t>(aligned));
    case 1: {
      const Bytes copy(bytes.begin() + static_cast<std::ptrdiff_t>(event.begin),
                       bytes.begin() + static_cast<std::ptrdiff_t>(event.begin + event.size));
      if (!move_tail(bytes, buffer, event.begin, static_cast<std::ptrdiff_t>(aligned))) {
        return false;
      }
      std::copy(copy.begin(), copy.end(), bytes.begin() + static_cast<std::ptrdiff_t>(event.begin));
      return true;
    }
    case 2:
    case 3:
      change_header(bytes, event, random);
      return true;
    case 4:
      write16(bytes, event.begin + size_place(bytes[event.begin + 2]),
              event.size > 16 ? event.size - 1 - random() % 8 : event.size);
      return true;
    default:
      if (event.size > 8) {
        LLVMFuzzerMutate(&bytes[event.begin + 8], event.size - 8, event.size - 8);
      }
      return true;
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(data, data + size);
  if (random() % 5 == 0 || !change(bytes, random)) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}
