#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "symbolize/pdb/pdb_tables.h"

namespace stackpack::symbolize {

/// The folder of a PDB in symbol stores: GUID and age in upper-case hex.
std::string pdb_store_id(const PdbIdentity& identity);

/// The folder of an image in symbol stores: its time in upper-case hex, and its size in lower case.
std::string pe_store_id(std::uint32_t timestamp, std::uint32_t image_size);

/// The last part of a path with slashes of either kind; empty for one that is no name of a file.
std::string_view stored_name(std::string_view path);

/// What a store has of a file.
struct StoredFiles {
  /// Paths that are there, the likely one first. Whether they are what was looked for, and regular
  /// files, is the caller's to check.
  std::vector<std::string> paths;
  /// A file that was compressed (`.pd_`), or a note where it is (`file.ptr`), which are not read.
  std::string unread;
};

/// A folder of PDBs and images as symbol servers and their clients lay it out:
/// NAME/ID/NAME, with the first two letters of the name as a folder above it where there is an
/// index2.txt, or plain files. Names are compared without case, as where the folder comes from.
///
/// Memory: the names in the folders looked at, of which the last few are kept.
class SymbolStore {
 public:
  explicit SymbolStore(std::string folder) : folder_(std::move(folder)) {}

  /// `name`: as stored_name() gives it. Folders that cannot be listed have nothing.
  StoredFiles find(std::string_view name, std::string_view id);

  /// Paths of all files with that name, at most 64: for images, whose ids nobody recorded.
  std::vector<std::string> find_all(std::string_view name);

 private:
  const std::vector<std::string>& listing(const std::string& folder);
  std::vector<std::string> tiers(std::string_view name);
  std::string plain_file(std::string_view name);
  std::string entry(const std::string& folder, std::string_view name);

  std::string folder_;
  std::map<std::string, std::vector<std::string>> listings_;
};

}  // namespace stackpack::symbolize
