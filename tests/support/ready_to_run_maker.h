// A .NET image with code that was compiled ahead: what of it names methods.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "support/pdb_maker.h"
#include "support/test_bytes.h"

namespace stackpack::test {

/// What a test may want otherwise.
struct ReadyToRunMaking {
  std::uint16_t machine = 0x8664 ^ 0x7B79;  ///< x64 of Linux
  bool has_methods = true;                  ///< a header of ReadyToRun
  std::uint8_t owner_type = 0x12;           ///< of the instance's signature: a class
};

/// Types Demo.Box`1, Demo.Main and Demo.Main+Inner, with methods
///
///   1 Demo.Box`1.Get   an instance of it is piece 3
///   2 Demo.Main.Run    piece 0, and piece 1, a handler
///   3 Demo.Main.Same   piece 0, too
///   4 Demo.Main+Inner.Do  piece 2
///
/// Pieces are 0x20 bytes apart from 0x3000 on, each of 0x18 bytes. The PDB is that of pdb_guid(),
/// age 10.
class ReadyToRunMaker {
 public:
  explicit ReadyToRunMaker(ReadyToRunMaking making = {}) : making_(making) {}

  [[nodiscard]] std::vector<std::byte> file() const {
    // One section of what is read, at kRva; its parts by their distance from there.
    TestBytes body;
    const auto part = [&body](const TestBytes& bytes) {
      body.pad_to(4);
      const auto at = static_cast<std::uint32_t>(kRva + body.bytes.size());
      body.append(bytes.bytes);
      return at;
    };
    const TestBytes metadata_bytes = metadata();
    const TestBytes pieces_bytes = pieces();
    const TestBytes entries_bytes = entry_points();
    const TestBytes instances_bytes = instances();
    const std::uint32_t metadata_rva = part(metadata_bytes);
    const std::uint32_t pieces_rva = part(pieces_bytes);
    const std::uint32_t entries_rva = part(entries_bytes);
    const std::uint32_t instances_rva = part(instances_bytes);
    const auto size_of = [](const TestBytes& bytes) {
      return static_cast<std::uint32_t>(bytes.bytes.size());
    };
    TestBytes header;
    header.u32(0x00525452).u16(3).u16(1).u32(3).u32(3);
    header.u32(102).u32(pieces_rva).u32(size_of(pieces_bytes));
    header.u32(103).u32(entries_rva).u32(size_of(entries_bytes));
    header.u32(109).u32(instances_rva).u32(size_of(instances_bytes));
    const std::uint32_t header_rva = part(header);
    TestBytes cli;
    cli.u32(72).u16(2).u16(5).u32(metadata_rva).u32(size_of(metadata_bytes)).zeros(48);
    cli.u32(making_.has_methods ? header_rva : 0).u32(size_of(header));
    const std::uint32_t cli_rva = part(cli);
    TestBytes debug;
    debug.text("RSDS");
    for (const std::uint8_t byte : pdb_guid()) {
      debug.u8(byte);
    }
    debug.u32(10).text("a.pdb").u8(0);
    const std::uint32_t debug_rva = part(debug);
    TestBytes directory;
    directory.zeros(12).u32(2).u32(size_of(debug)).u32(debug_rva);
    directory.u32(debug_rva - kRva + kFileOffset);
    const std::uint32_t directory_rva = part(directory);
    return image(body, cli_rva, directory_rva);
  }

 private:
  static constexpr std::uint32_t kRva = 0x1000;
  static constexpr std::uint32_t kFileOffset = 0x200;

  [[nodiscard]] std::vector<std::byte> image(const TestBytes& body, std::uint32_t cli_rva,
                                             std::uint32_t directory_rva) const {
    TestBytes out;
    out.u16(0x5A4D).zeros(0x3A).u32(0x40);
    out.u32(0x4550).u16(making_.machine).u16(1).u32(0x5F00'1234).zeros(8).u16(240).u16(0x2022);
    TestBytes optional;
    optional.u16(0x20B).zeros(54).u32(0xB000).zeros(48).u32(16);
    for (std::uint32_t i = 0; i < 16; ++i) {
      optional.u32(i == 6 ? directory_rva : i == 14 ? cli_rva : 0);
      optional.u32(i == 6 ? 28 : i == 14 ? 72 : 0);
    }
    out.append(optional.bytes);
    const auto size = static_cast<std::uint32_t>(body.bytes.size());
    out.text(".text").zeros(3).u32(size).u32(kRva).u32(size).u32(kFileOffset).zeros(16);
    out.pad_to(kFileOffset);
    return out.append(body.bytes).bytes;
  }

  [[nodiscard]] TestBytes pieces() const {
    TestBytes out;
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t begin = 0x3000 + 0x20 * i;
      out.u32(begin);
      if (making_.machine != 0xAA64) {
        out.u32(begin + 0x18);
      }
      out.u32(0x5000);
    }
    return out;
  }

  // A number of the native format below 128.
  static std::uint8_t native(std::uint32_t value) { return static_cast<std::uint8_t>(value << 1); }

  // One block: elements 1, 2 and 3. Each node says whether there is a lower child, which follows,
  // and how far away a higher one is.
  static TestBytes entry_points() {
    TestBytes out;
    out.u8(native(4U << 2)).u8(1);                // four elements, offsets of a byte; the block
    out.u8(native(1)).u8(native(1));              // bits 8 and 4: all are lower
    out.u8(native(1 | 2 | 3U << 2));              // bit 2: element 1; 2 and 3
    out.u8(native(1U << 2)).u8(native(0U << 1));  // element 1 alone: piece 0
    out.u8(native(1 | 2 | 2U << 2)).u8(native(0U << 1));  // element 2: piece 0
    out.u8(native(2U << 1));                              // element 3: piece 2
    return out;
  }

  // One bucket with Get of Box`1 of int.
  [[nodiscard]] TestBytes instances() const {
    TestBytes out;
    out.u8(0).u8(2).u8(4);       // a bucket, offsets of a byte; its begin and end
    out.u8(0x77).u8(native(1));  // a part of the hash; the entry is next
    out.u8(0x40).u8(0x15).u8(making_.owner_type).u8(2U << 2).u8(1).u8(0x08);  // Box`1 of int
    out.u8(1).u8(native(3U << 1));                                            // method 1: piece 3
    return out;
  }

  struct Strings {
    TestBytes bytes = TestBytes().u8(0);
    std::uint16_t add(std::string_view text) {
      const auto at = static_cast<std::uint16_t>(bytes.bytes.size());
      bytes.text(text).u8(0);
      return at;
    }
  };

  static TestBytes metadata() {
    Strings strings;
    const std::uint16_t space = strings.add("Demo");
    TestBytes tables;
    tables.u32(0).u8(2).u8(0).u8(0).u8(1);
    tables.u64(1ULL << 0 | 1ULL << 2 | 1ULL << 6 | 1ULL << 0x29).u64(0);
    tables.u32(1).u32(3).u32(4).u32(1);
    tables.u16(0).u16(strings.add("demo.dll")).u16(0).u16(0).u16(0);
    const auto type = [&](std::string_view name, std::uint16_t in, std::uint16_t first_method) {
      tables.u32(0).u16(strings.add(name)).u16(in).u16(0).u16(1).u16(first_method);
    };
    type("Box`1", space, 1);
    type("Main", space, 2);
    type("Inner", 0, 4);
    for (const std::string_view name : {"Get", "Run", "Same", "Do"}) {
      tables.u32(0).u16(0).u16(0).u16(strings.add(name)).u16(0).u16(1);
    }
    tables.u16(3).u16(2);  // Inner is in Main
    tables.pad_to(4);
    strings.bytes.pad_to(4);
    TestBytes out;
    out.u32(0x424A5342).u16(1).u16(1).u32(0).u32(4).text("v4.0").u16(0).u16(2);
    constexpr std::uint32_t kHeaders = 20 + 4 + 12 + 20;
    const auto size = static_cast<std::uint32_t>(tables.bytes.size());
    out.u32(kHeaders).u32(size).text("#~").zeros(2);
    out.u32(kHeaders + size).u32(static_cast<std::uint32_t>(strings.bytes.bytes.size()));
    out.text("#Strings").zeros(4);
    return out.append(tables.bytes).append(strings.bytes.bytes);
  }

  ReadyToRunMaking making_;
};

}  // namespace stackpack::test
