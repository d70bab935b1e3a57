#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/byte_source.h"
#include "stackpack/result.h"
#include "symbolize/name_collector.h"
#include "symbolize/pdb/pdb_tables.h"
#include "symbolize/symbol_request.h"

namespace stackpack::symbolize {

/// A PDB that an image names.
struct PdbReference {
  PdbIdentity identity;
  std::string path;  ///< as the linker wrote it
};

/// A part of a PE file that is mapped.
struct PeSection {
  std::uint32_t rva = 0;
  std::uint32_t size = 0;  ///< of the bytes that the file has of it
  std::uint32_t file_offset = 0;
};

/// What a PE file says of itself.
struct PeImage {
  std::uint16_t machine = 0;
  std::uint32_t timestamp = 0;  ///< with the size the key of symbol stores
  std::uint32_t image_size = 0;
  std::vector<PdbReference> pdbs;  ///< native images of .NET have several
  std::vector<PeSection> sections;

  struct Directory {
    std::uint32_t rva = 0;
    std::uint32_t size = 0;
  };
  Directory exports;
  Directory functions;  ///< the table of functions (.pdata)
  Directory cli;        ///< the header of .NET
};

/// Reads headers and debug directory. What is damaged in the latter is left out.
/// Errors: kUnsupported: no PE file; kTruncated; kIo.
Result<PeImage> read_pe_image(io::ByteSource& file);

/// The bytes at an RVA up to the end of its section, at most `size`; empty outside of all sections,
/// fewer where the file ends. Errors: kIo.
Result<std::vector<std::byte>> read_pe_bytes(io::ByteSource& file, const PeImage& image,
                                             std::uint32_t rva, std::uint32_t size);

/// Whether the image has exports whose ends are known.
[[nodiscard]] bool has_export_ends(const PeImage& image);

/// Adds rows with owner kImage, module 0 and source kPeExport for exported functions that have an
/// address of the request, an RVA. A function is as long as the image's table of functions says;
/// without an entry there it names nothing, because nobody knows where it ends.
/// Errors: kUnsupported for images without a readable table (those of 32 bits, for one); kCorrupt,
///         kTruncated, kIo.
Status read_pe_exports(io::ByteSource& file, const PeImage& image, const SymbolRequest& request,
                       NameCollector& names);

}  // namespace stackpack::symbolize
