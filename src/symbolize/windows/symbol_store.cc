// Layouts: Microsoft's "SymStore" and "Two-tier structure" of symbol servers.
#include "symbolize/windows/symbol_store.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

#include "bytes/byte_text.h"
#include "io/directories.h"
#include "io/utf8_path.h"

namespace stackpack::symbolize {

namespace {

constexpr std::size_t kKeptListings = 8;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool equal_but_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

void append_number(std::string& text, std::uint32_t value, std::string_view digits) {
  unsigned count = 1;
  while (count < 8 && value >> (4 * count) != 0) {
    ++count;
  }
  bytes::append_hex(text, value, count, digits);
}

}  // namespace

std::string pdb_store_id(const PdbIdentity& identity) {
  // The first three fields of a GUID are numbers, stored with the low byte first.
  constexpr std::size_t kOrder[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
  std::string id;
  for (const std::size_t place : kOrder) {
    bytes::append_hex(id, identity.guid[place], 2, bytes::kUpperHex);
  }
  append_number(id, identity.age, bytes::kUpperHex);
  return id;
}

std::string pe_store_id(std::uint32_t timestamp, std::uint32_t image_size) {
  std::string id;
  bytes::append_hex(id, timestamp, 8, bytes::kUpperHex);
  append_number(id, image_size, bytes::kLowerHex);
  return id;
}

std::string_view stored_name(std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of("/\\") + 1);
  const bool good =
      !name.empty() && name != "." && name != ".." && name.find('\0') == std::string_view::npos;
  return good ? name : std::string_view();
}

const std::vector<std::string>& SymbolStore::listing(const std::string& folder) {
  const auto known = listings_.find(folder);
  if (known != listings_.end()) {
    return known->second;
  }
  if (listings_.size() >= kKeptListings) {
    listings_.clear();
  }
  Result<std::vector<std::string>> names = io::list_directory(folder);
  return listings_.emplace(folder, names ? std::move(*names) : std::vector<std::string>())
      .first->second;
}

// The entry of a folder that has the name but for its case; empty: none.
std::string SymbolStore::entry(const std::string& folder, std::string_view name) {
  const std::vector<std::string>& names = listing(folder);
  if (std::binary_search(names.begin(), names.end(), name)) {
    return folder + "/" + std::string(name);
  }
  const auto same = std::find_if(names.begin(), names.end(), [name](const std::string& other) {
    return equal_but_case(other, name);
  });
  return same == names.end() ? std::string() : folder + "/" + *same;
}

// The folders that may have a folder of that name.
std::vector<std::string> SymbolStore::tiers(std::string_view name) {
  std::vector<std::string> folders = {folder_};
  if (std::string tier = entry(folder_, name.substr(0, 2)); !tier.empty()) {
    folders.push_back(std::move(tier));
  }
  return folders;
}

// The file of that name in the store's own folder; empty: none.
std::string SymbolStore::plain_file(std::string_view name) {
  std::string file = entry(folder_, name);
  std::error_code unknown;
  return !file.empty() && std::filesystem::is_directory(io::path_of(file), unknown) ? std::string()
                                                                                    : file;
}

StoredFiles SymbolStore::find(std::string_view name, std::string_view id) {
  StoredFiles found;
  if (name.empty()) {
    return found;
  }
  std::string compressed(name);
  compressed.back() = '_';
  for (const std::string& folder : tiers(name)) {
    const std::string of_name = entry(folder, name);
    const std::string of_id = of_name.empty() ? std::string() : entry(of_name, id);
    if (of_id.empty()) {
      continue;
    }
    if (std::string file = entry(of_id, name); !file.empty()) {
      found.paths.push_back(std::move(file));
    }
    for (const std::string_view other :
         {std::string_view(compressed), std::string_view("file.ptr")}) {
      if (std::string file = entry(of_id, other); !file.empty() && found.unread.empty()) {
        found.unread = std::move(file);
      }
    }
  }
  if (std::string file = plain_file(name); !file.empty()) {
    found.paths.push_back(std::move(file));
  }
  return found;
}

std::vector<std::string> SymbolStore::find_all(std::string_view name) {
  constexpr std::size_t kMostFiles = 64;
  std::vector<std::string> paths;
  if (name.empty()) {
    return paths;
  }
  for (const std::string& folder : tiers(name)) {
    const std::string of_name = entry(folder, name);
    const std::vector<std::string> ids =
        of_name.empty() ? std::vector<std::string>() : listing(of_name);
    for (const std::string& id : ids) {
      if (paths.size() >= kMostFiles) {
        break;
      }
      std::string of_id = of_name;
      of_id += "/" + id;
      if (std::string file = entry(of_id, name); !file.empty()) {
        paths.push_back(std::move(file));
      }
    }
  }
  if (std::string file = plain_file(name); !file.empty()) {
    paths.push_back(std::move(file));
  }
  return paths;
}

}  // namespace stackpack::symbolize
