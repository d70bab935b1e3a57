// Changes perf captures record by record, so that sizes stay in step: without it nearly every
// change makes all that follows unreadable.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kHeaderBytes = 8;
constexpr std::size_t kMostRecordBytes = 65'535;

// Numbers in the order of the capture.
struct Order {
  bool big = false;

  [[nodiscard]] std::uint64_t read(const Bytes& bytes, std::size_t at, std::size_t size) const {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      value |= std::uint64_t{bytes[at + i]} << (8 * (big ? size - 1 - i : i));
    }
    return value;
  }
  void write(Bytes& bytes, std::size_t at, std::size_t size, std::uint64_t value) const {
    for (std::size_t i = 0; i < size; ++i) {
      bytes[at + i] = static_cast<std::uint8_t>(value >> (8 * (big ? size - 1 - i : i)));
    }
  }
};

// Where the records are: after the header of a file or a pipe, or after one byte of options.
struct Shape {
  Order order;
  bool file = false;
  std::size_t begin = 1;
  std::size_t end = 0;
};

constexpr std::size_t kDataOffset = 40;
constexpr std::size_t kDataSize = 48;
constexpr std::size_t kFeatureBits = 72;
constexpr std::size_t kFileHeader = 104;

Shape shape_of(const Bytes& bytes) {
  Shape shape;
  shape.end = bytes.size();
  const bool little = bytes.size() >= 16 && std::memcmp(bytes.data(), "PERFILE2", 8) == 0;
  const bool big = bytes.size() >= 16 && std::memcmp(bytes.data(), "2ELIFREP", 8) == 0;
  if (!little && !big) {
    shape.order.big = !bytes.empty() && (bytes[0] & 1U) != 0;
    return shape;
  }
  shape.order.big = big;
  shape.begin = 16;
  if (shape.order.read(bytes, 8, 8) != 16 && bytes.size() >= kFileHeader) {
    const std::uint64_t begin = shape.order.read(bytes, kDataOffset, 8);
    const std::uint64_t size = shape.order.read(bytes, kDataSize, 8);
    if (begin < bytes.size() && size <= bytes.size() - begin) {
      shape.file = true;
      shape.begin = static_cast<std::size_t>(begin);
      shape.end = static_cast<std::size_t>(begin + size);
    }
  }
  return shape;
}

struct Place {
  std::size_t begin = 0;
  std::size_t size = 0;
};

std::vector<Place> records_of(const Bytes& bytes, const Shape& shape) {
  std::vector<Place> records;
  std::size_t at = shape.begin;
  while (at < shape.end && shape.end - at >= kHeaderBytes) {
    const auto size = static_cast<std::size_t>(shape.order.read(bytes, at + 6, 2));
    if (size < kHeaderBytes || size > shape.end - at) {
      break;
    }
    records.push_back({at, size});
    at += size;
  }
  return records;
}

Bytes slice(const Bytes& bytes, const Place& place) {
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(place.begin);
  return {begin, begin + static_cast<std::ptrdiff_t>(place.size)};
}

void replace(Bytes& bytes, const Place& place, const Bytes& by) {
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(place.begin);
  bytes.erase(begin, begin + static_cast<std::ptrdiff_t>(place.size));
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(place.begin), by.begin(), by.end());
}

// The sections of features stand after the records, and a table of them right after.
void shift_sections(Bytes& bytes, const Shape& shape, std::size_t growth) {
  shape.order.write(bytes, kDataSize, 8, shape.end - shape.begin + growth);
  std::size_t features = 0;
  for (std::size_t i = kFeatureBits; i < kFileHeader; ++i) {
    features += static_cast<std::size_t>(__builtin_popcount(bytes[i]));
  }
  std::size_t at = shape.end + growth;
  for (; features > 0 && at + 16 <= bytes.size(); --features, at += 16) {
    shape.order.write(bytes, at, 8, shape.order.read(bytes, at, 8) + growth);
  }
}

Bytes changed_record(Bytes record, const Order& order, std::mt19937& random) {
  if (random() % 4 == 0) {
    constexpr std::uint32_t kTypes[] = {1,  2,  3,  4,  5,  7,  9,  10, 13, 16, 17, 18, 19,
                                        20, 22, 64, 65, 67, 68, 69, 78, 80, 81, 83, 84};
    order.write(record, 0, 4, kTypes[random() % std::size(kTypes)]);
    return record;
  }
  if (random() % 8 == 0) {
    order.write(record, 4, 2, random());
    return record;
  }
  const std::size_t payload = record.size() - kHeaderBytes;
  const std::size_t room = std::min(payload + 32, kMostRecordBytes - kHeaderBytes);
  record.resize(kHeaderBytes + room);
  record.resize(kHeaderBytes + LLVMFuzzerMutate(record.data() + kHeaderBytes, payload, room));
  if (random() % 4 != 0) {
    record.resize((record.size() + 7) / 8 * 8 > kMostRecordBytes ? record.size()
                                                                 : (record.size() + 7) / 8 * 8);
  }
  order.write(record, 6, 2, record.size());
  return record;
}

// False: nothing to change here.
bool change(Bytes& bytes, std::mt19937& random) {
  const Shape shape = shape_of(bytes);
  const std::vector<Place> records = records_of(bytes, shape);
  if (records.empty()) {
    return false;
  }
  const Place& place = records[random() % records.size()];
  const Bytes record = slice(bytes, place);
  const std::size_t old_size = bytes.size();
  switch (random() % 8) {
    case 0:
      replace(bytes, place, {});
      break;
    case 1: {
      Bytes twice = record;
      twice.insert(twice.end(), record.begin(), record.end());
      replace(bytes, place, twice);
      break;
    }
    case 2: {
      const Place& other = records[random() % records.size()];
      replace(bytes, {other.begin, 0}, record);
      break;
    }
    default:
      replace(bytes, place, changed_record(record, shape.order, random));
      break;
  }
  if (shape.file) {
    shift_sections(bytes, shape, bytes.size() - old_size);
  }
  return true;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(data, data + size);
  const bool plain = random() % 4 == 0;
  if (plain || !change(bytes, random) || bytes.size() > max_size) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}
