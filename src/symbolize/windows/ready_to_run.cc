// The ReadyToRun header lists sections by type. Three of them lead from an address to a method:
//
// - runtime functions: pieces of code in order of address. The body of a method is one, and those
//   that follow up to the next body are its handlers of exceptions;
// - entry points of methods: a sparse array from the number of a method to its body;
// - entry points of instances of generic methods: a hash table, whose values are a signature and
//   the body. The signature has to be read to its end to get there.
//
// The number is a row of the assembly's metadata, which the image has as a whole.
//
// Source: .NET's "ReadyToRun File Format", its readytorun.h, and ECMA-335, II.23.2 (signatures).
#include "symbolize/windows/ready_to_run.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bytes/byte_cursor.h"
#include "bytes/utf8.h"
#include "symbolize/windows/cli_metadata.h"

namespace stackpack::symbolize {

namespace {

constexpr std::uint32_t kReadyToRunSignature = 0x00525452;
constexpr std::uint32_t kCliHeaderSize = 72;
constexpr std::uint32_t kMostSections = 256;
constexpr std::uint32_t kReadyToRunSectionSize = 12;
constexpr std::uint32_t kMostMetadataBytes = std::uint32_t{256} << 20;
constexpr std::uint16_t kMachineAmd64 = 0x8664;
// Outside of Windows the machine is combined with a number of the system: Linux, Apple, FreeBSD,
// NetBSD, SunOS.
constexpr std::array<std::uint16_t, 6> kSystems{0, 0x7B79, 0x4644, 0xADC4, 0x1993, 0x1992};

enum SectionTypes : std::uint32_t {
  kRuntimeFunctions = 102,
  kMethodEntryPoints = 103,
  kInstanceEntryPoints = 109,
};

constexpr Error kNoMethods{ErrorCode::kUnsupported, kNoOffset, "pe: no precompiled methods"};
constexpr Error kCorruptMethods{ErrorCode::kCorrupt, kNoOffset, "pe: precompiled methods"};

/// Where what is read is.
struct Sections {
  PeImage::Directory metadata;
  PeImage::Directory functions;
  PeImage::Directory entry_points;
  PeImage::Directory instances;
};

Result<Sections> find_sections(io::ByteSource& file, const PeImage& image) {
  const Result<std::vector<std::byte>> cli =
      read_pe_bytes(file, image, image.cli.rva, kCliHeaderSize);
  if (!cli) {
    return cli.error();
  }
  Sections sections;
  bytes::ByteCursor in(*cli, 0);
  in.skip(8);
  sections.metadata.rva = in.read<std::uint32_t>();
  sections.metadata.size = in.read<std::uint32_t>();
  in.skip(48);  // flags, entry point, other tables
  const auto native = in.read<std::uint32_t>();
  if (!in.ok() || native == 0) {
    return Error(kNoMethods);
  }
  const Result<std::vector<std::byte>> header =
      read_pe_bytes(file, image, native, 16 + kMostSections * kReadyToRunSectionSize);
  if (!header) {
    return header.error();
  }
  bytes::ByteCursor list(*header, 0);
  if (list.read<std::uint32_t>() != kReadyToRunSignature) {
    return Error(kNoMethods);
  }
  list.skip(8);  // version, flags
  const auto count = list.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && list.remaining() >= kReadyToRunSectionSize; ++i) {
    const auto type = list.read<std::uint32_t>();
    const PeImage::Directory place{list.read<std::uint32_t>(), list.read<std::uint32_t>()};
    if (type == kRuntimeFunctions) {
      sections.functions = place;
    } else if (type == kMethodEntryPoints) {
      sections.entry_points = place;
    } else if (type == kInstanceEntryPoints) {
      sections.instances = place;
    }
  }
  const bool whole = sections.functions.size != 0 && sections.entry_points.size != 0;
  return whole ? Result<Sections>(sections) : Result<Sections>(Error(kNoMethods));
}

/// A piece of code. `end` 0: nobody knows.
struct CodePiece {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

Result<std::vector<CodePiece>> read_pieces(io::ByteSource& file, const PeImage& image,
                                           PeImage::Directory place) {
  const Result<std::vector<std::byte>> bytes = read_pe_bytes(file, image, place.rva, place.size);
  if (!bytes) {
    return bytes.error();
  }
  const bool has_ends = std::any_of(kSystems.begin(), kSystems.end(), [&](std::uint16_t system) {
    return (image.machine ^ system) == kMachineAmd64;
  });
  const std::size_t entry_size = has_ends ? 12 : 8;
  std::vector<CodePiece> pieces;
  pieces.reserve(bytes->size() / entry_size);
  bytes::ByteCursor in(*bytes, 0);
  while (in.remaining() >= entry_size) {
    const auto begin = in.read<std::uint32_t>();
    const std::uint32_t end = has_ends ? in.read<std::uint32_t>() : 0;
    in.skip(4);  // how to unwind
    if (!pieces.empty() && begin < pieces.back().begin) {
      return Error(kCorruptMethods);
    }
    if (!pieces.empty() && !has_ends) {
      pieces.back().end = begin;
    }
    pieces.push_back({begin, end});
  }
  return pieces;
}

/// A number of .NET's native format: as many bits of 1 at the low end of the first byte as bytes
/// follow; four of them mean that the number is the four bytes.
struct NativeNumber {
  std::uint32_t value = 0;
  unsigned bits = 0;

  [[nodiscard]] std::int64_t as_signed() const {
    const std::int64_t range = std::int64_t{1} << bits;
    return value >> (bits - 1) != 0 ? std::int64_t{value} - range : std::int64_t{value};
  }
};

NativeNumber read_native(bytes::ByteCursor& in) {
  const auto first = in.read<std::uint8_t>();
  const unsigned more = std::min(static_cast<unsigned>(std::countr_one(first)), 4U);
  if (more == 4) {
    return {in.read<std::uint32_t>(), 32};
  }
  std::uint32_t value = static_cast<std::uint32_t>(first) >> (more + 1);
  for (unsigned i = 0; i < more; ++i) {
    value |= static_cast<std::uint32_t>(in.read<std::uint8_t>()) << (8 * (i + 1) - (more + 1));
  }
  return {value, 7 * (more + 1)};
}

// Which piece is the body: what must be done before its first call comes after it.
std::uint32_t read_body(bytes::ByteCursor& in) {
  const std::uint32_t number = read_native(in).value;
  return (number & 1) != 0 ? number >> 2 : number >> 1;
}

/// The number of a method by each piece that is a body.
class Bodies {
 public:
  static constexpr std::uint32_t kNone = 0;
  static constexpr std::uint32_t kUnknown = ~std::uint32_t{0};  ///< a method of another assembly

  explicit Bodies(std::size_t pieces) : methods_(pieces, kNone) {}

  /// Methods of the same code: the first one names it.
  void add(std::uint32_t piece, std::uint32_t method) {
    if (piece >= methods_.size()) {
      damaged_ = true;
    } else if (methods_[piece] == kNone) {
      methods_[piece] = method;
    }
  }
  void damaged() { damaged_ = true; }
  [[nodiscard]] std::size_t pieces() const { return methods_.size(); }

  /// Whose code a piece is. Where bodies may be missing only they are known, not what follows them.
  [[nodiscard]] std::vector<std::uint32_t> of_pieces() && {
    for (std::size_t i = 1; i < methods_.size() && !damaged_; ++i) {
      methods_[i] = methods_[i] == kNone ? methods_[i - 1] : methods_[i];
    }
    return std::move(methods_);
  }

 private:
  std::vector<std::uint32_t> methods_;
  bool damaged_ = false;
};

std::uint32_t read_offset(bytes::ByteCursor& in, unsigned width_code) {
  return width_code == 0   ? in.read<std::uint8_t>()
         : width_code == 1 ? in.read<std::uint16_t>()
                           : in.read<std::uint32_t>();
}

/// The sparse array of entry points: blocks of 16 elements, each a binary tree.
class EntryPoints {
 public:
  explicit EntryPoints(const std::vector<std::byte>& bytes) : in_(bytes, 0) {
    const std::uint32_t header = read_native(in_).value;
    width_code_ = header & 3;
    count_ = in_.ok() ? header >> 2 : 0;
    base_ = in_.position();
  }

  [[nodiscard]] std::uint32_t count() const { return count_; }

  /// A cursor at an element; failed: damaged. `there` says whether there is one.
  bytes::ByteCursor find(std::uint32_t element, bool& there) {
    constexpr std::uint32_t kBlock = 16;
    bytes::ByteCursor in = in_;
    in.seek(base_ + (std::uint64_t{element / kBlock} << width_code_));
    const std::uint64_t block = read_offset(in, width_code_);
    in.seek(base_ + block);
    there = false;
    for (std::uint32_t bit = kBlock / 2; bit != 0; bit /= 2) {
      const std::uint64_t node = in.position();
      const std::uint32_t about = read_native(in).value;
      if ((element & bit) != 0 && (about & 2) != 0) {
        in.seek(node + (about >> 2));
      } else if ((element & bit) != 0 || (about & 1) == 0) {
        // A tree of one element is its number.
        there = in.ok() && (about & 3) == 0 && about >> 2 == element % kBlock;
        return in;
      }
    }
    there = in.ok();
    return in;
  }

 private:
  bytes::ByteCursor in_;
  unsigned width_code_ = 0;
  std::uint32_t count_ = 0;
  std::uint64_t base_ = 0;
};

void add_methods(const std::vector<std::byte>& bytes, std::uint32_t methods, Bodies& bodies) {
  EntryPoints entry_points(bytes);
  const std::uint32_t count = std::min(entry_points.count(), methods);
  for (std::uint32_t i = 0; i < count; ++i) {
    bool there = false;
    bytes::ByteCursor in = entry_points.find(i, there);
    const std::uint32_t body = there ? read_body(in) : 0;
    if (!in.ok()) {
      bodies.damaged();
    } else if (there) {
      bodies.add(body, i + 1);
    }
  }
}

/// The signature of a method of a generic type, or of a generic method, read for its end.
class InstanceSignature {
 public:
  explicit InstanceSignature(bytes::ByteCursor& in) : in_(in) {}

  /// The number of the method; Bodies::kUnknown when it is one of another assembly. False: it
  /// cannot be read.
  bool read(std::uint32_t& method) {
    enum Flags : std::uint32_t {
      kInstantiation = 0x04,
      kMemberRef = 0x10,
      kConstrained = 0x20,
      kOwnerType = 0x40,
      kOtherModule = 0x80
    };
    const std::uint32_t flags = number();
    if ((flags & kOtherModule) != 0) {
      number();
    }
    if ((flags & kOwnerType) != 0) {
      type(0);
    }
    const std::uint32_t row = number();
    if ((flags & kInstantiation) != 0) {
      types(number(), 0);
    }
    if ((flags & kConstrained) != 0) {
      type(0);
    }
    method = (flags & (kMemberRef | kOtherModule)) != 0 ? Bodies::kUnknown : row;
    return good_ && in_.ok();
  }

 private:
  static constexpr unsigned kMostDepth = 32;
  static constexpr unsigned kMostParts = 256;

  // ECMA-335, II.23.2: one, two or four bytes, the first ones first.
  std::uint32_t number() {
    const std::uint32_t first = in_.read<std::uint8_t>();
    if ((first & 0x80) == 0) {
      return first;
    }
    const std::uint32_t second = in_.read<std::uint8_t>();
    if ((first & 0x40) == 0) {
      return (first & 0x3F) << 8 | second;
    }
    const std::uint32_t third = in_.read<std::uint8_t>();
    return (first & 0x1F) << 24 | second << 16 | third << 8 | in_.read<std::uint8_t>();
  }

  void types(std::uint32_t count, unsigned depth) {
    for (std::uint32_t i = 0; i < count && good_ && in_.ok(); ++i) {
      type(depth);
    }
  }

  void numbers() {
    const std::uint32_t count = number();
    for (std::uint32_t i = 0; i < count && good_ && in_.ok(); ++i) {
      good_ = ++parts_ < kMostParts;
      number();
    }
  }

  void type(unsigned depth) {
    good_ = good_ && in_.ok() && depth < kMostDepth && ++parts_ < kMostParts;
    if (!good_) {
      return;
    }
    switch (in_.read<std::uint8_t>()) {
      case 0x0F:  // a pointer
      case 0x10:  // a reference
      case 0x1D:  // an array
      case 0x3D:  // a value of native code
      case 0x45:  // pinned
        return type(depth + 1);
      case 0x11:  // a value
      case 0x12:  // a class
      case 0x13:  // a parameter of the type
      case 0x1E:  // of the method
      case 0x3B:
        number();
        return;
      case 0x3F:  // of another module
        number();
        return type(depth + 1);
      case 0x14:  // an array of several dimensions
        type(depth + 1);
        number();
        numbers();
        numbers();
        return;
      case 0x15:  // an instance of a generic type
        type(depth + 1);
        return types(number(), depth + 1);
      case 0x1B:  // a pointer to a function: not read
        good_ = false;
        return;
      default:  // a type without more to it: numbers, text, object, ...
        return;
    }
  }

  bytes::ByteCursor& in_;
  bool good_ = true;
  unsigned parts_ = 0;
};

void add_instances(const std::vector<std::byte>& bytes, Bodies& bodies) {
  constexpr unsigned kMostBucketBits = 24;
  bytes::ByteCursor in(bytes, 0);
  const auto header = in.read<std::uint8_t>();
  const unsigned width_code = header & 3U;
  const std::uint64_t base = in.position();
  const unsigned bucket_bits = header >> 2U;
  if (bytes.empty() || bucket_bits > kMostBucketBits) {
    if (!bytes.empty()) {
      bodies.damaged();
    }
    return;
  }
  const std::uint64_t first = base + read_offset(in, width_code);
  in.seek(base + (std::uint64_t{1} << (bucket_bits + width_code)));
  const std::uint64_t end = base + read_offset(in, width_code);
  in.seek(first);
  for (std::size_t entries = 0; in.ok() && in.position() < end; ++entries) {
    if (entries == bodies.pieces()) {  // each has its own
      bodies.damaged();
      return;
    }
    in.skip(1);  // a part of the hash
    const auto place = static_cast<std::int64_t>(in.position());
    const std::int64_t value = place + read_native(in).as_signed();
    bytes::ByteCursor entry = in;
    entry.seek(value < 0 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(value));
    std::uint32_t method = 0;
    const bool good = InstanceSignature(entry).read(method);
    const std::uint32_t body = read_body(entry);
    if (good && entry.ok()) {
      bodies.add(body, method);
    } else {
      bodies.damaged();
    }
  }
  if (!in.ok()) {
    bodies.damaged();
  }
}

void add_rows(const std::vector<CodePiece>& pieces, const std::vector<std::uint32_t>& methods,
              const CliMetadata& metadata, const SymbolRequest& request, NameCollector& names) {
  std::uint64_t named_up_to = 0;
  for (const std::uint64_t address : request.addresses) {
    const auto after = std::upper_bound(
        pieces.begin(), pieces.end(), address,
        [](std::uint64_t wanted, const CodePiece& piece) { return wanted < piece.begin; });
    if (address < named_up_to || after == pieces.begin() || address >= (after - 1)->end) {
      continue;
    }
    const auto piece = static_cast<std::size_t>(after - 1 - pieces.begin());
    const std::string name = metadata.method_name(methods[piece]);
    if (name.empty()) {
      continue;
    }
    Function row;
    row.owner = FunctionOwner::kImage;
    row.start = pieces[piece].begin;
    row.size = pieces[piece].end - pieces[piece].begin;
    row.source = FunctionSource::kClr;
    row.name = names.text(bytes::valid_utf8(name));
    names.add_function(row);
    named_up_to = pieces[piece].end;
  }
}

}  // namespace

bool has_precompiled_methods(io::ByteSource& file, const PeImage& image) {
  return find_sections(file, image).has_value();
}

Status read_precompiled_methods(io::ByteSource& file, const PeImage& image,
                                const SymbolRequest& request, NameCollector& names) {
  const Result<Sections> sections = find_sections(file, image);
  if (!sections) {
    return sections.error();
  }
  const Result<std::vector<CodePiece>> pieces = read_pieces(file, image, sections->functions);
  if (!pieces) {
    return pieces.error();
  }
  Result<std::vector<std::byte>> metadata_bytes = read_pe_bytes(
      file, image, sections->metadata.rva, std::min(sections->metadata.size, kMostMetadataBytes));
  if (!metadata_bytes) {
    return metadata_bytes.error();
  }
  const Result<CliMetadata> metadata = CliMetadata::read(std::move(*metadata_bytes));
  if (!metadata) {
    return metadata.error();
  }
  Bodies bodies(pieces->size());
  for (const bool instances : {false, true}) {
    const PeImage::Directory place = instances ? sections->instances : sections->entry_points;
    const Result<std::vector<std::byte>> bytes = read_pe_bytes(file, image, place.rva, place.size);
    if (!bytes) {
      return bytes.error();
    }
    if (instances) {
      add_instances(*bytes, bodies);
    } else {
      add_methods(*bytes, metadata->method_count(), bodies);
    }
  }
  add_rows(*pieces, std::move(bodies).of_pieces(), *metadata, request, names);
  return {};
}

}  // namespace stackpack::symbolize
