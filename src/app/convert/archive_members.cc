#include "app/convert/archive_members.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "codec/zip_archive.h"
#include "stackpack/convert.h"

namespace stackpack::app {

namespace {

// Traces of days grow to tens of gigabytes; beyond this it is no trace.
constexpr std::uint64_t kMaxMemberBytes = std::uint64_t{1} << 40;

// Each member that is converted opens its archive anew: their number times that of all members is
// the work that an archive makes.
constexpr std::size_t kMaxCaptures = 1024;

bool is_capture_name(std::string_view name) {
  constexpr std::string_view kEnding = ".etl";
  return name.size() >= kEnding.size() &&
         std::equal(kEnding.rbegin(), kEnding.rend(), name.rbegin(), [](char a, char b) {
           return a == std::tolower(static_cast<unsigned char>(b));
         });
}

constexpr Error kTooManyCaptures{ErrorCode::kLimit, kNoOffset,
                                 "zip: holds more than 1,024 captures"};

Result<bool> is_zip(io::ByteSource& source) {
  std::array<std::byte, 4> head{};
  const Result<std::size_t> count = source.read_at(0, head);
  if (!count) {
    return count.error();
  }
  return codec::ZipArchive::looks_like_zip(std::span(head).first(*count));
}

}  // namespace

Result<std::vector<std::string>> list_members(io::ByteSource& archive) {
  std::vector<std::string> names;
  const Result<bool> zip = is_zip(archive);
  if (!zip) {
    return zip.error();
  }
  if (!*zip) {
    return names;
  }
  const Result<std::unique_ptr<codec::ZipArchive>> opened = codec::ZipArchive::open(archive);
  if (!opened) {
    return opened.error();
  }
  for (const codec::ZipArchive::Member& member : (*opened)->members()) {
    if (is_capture_name(member.name)) {
      names.push_back(member.name);
    }
  }
  if (names.size() > kMaxCaptures) {
    return kTooManyCaptures;
  }
  return names;
}

Result<std::unique_ptr<io::ByteSource>> open_member(io::ByteSource& archive,
                                                    const std::string& member,
                                                    const std::string& directory) {
  const Result<bool> zip = is_zip(archive);
  if (!zip) {
    return zip.error();
  }
  if (!*zip) {
    return std::unique_ptr<io::ByteSource>();
  }
  const Result<std::unique_ptr<codec::ZipArchive>> opened = codec::ZipArchive::open(archive);
  if (!opened) {
    return opened.error();
  }
  const std::vector<codec::ZipArchive::Member>& members = (*opened)->members();
  std::size_t chosen = members.size();
  std::size_t found = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (member.empty() ? !is_capture_name(members[i].name) : members[i].name != member) {
      continue;
    }
    chosen = i;
    ++found;
  }
  if (found > kMaxCaptures) {
    return kTooManyCaptures;
  }
  if (found > 1) {
    return Error{ErrorCode::kUsage, kNoOffset,
                 "zip: holds several captures; choose one with --member, or all with --out-dir"};
  }
  if (chosen == members.size()) {
    return Error{member.empty() ? ErrorCode::kUnsupported : ErrorCode::kUsage, kNoOffset,
                 member.empty() ? "zip: holds no .etl file" : "zip: holds no member of that name"};
  }
  return (*opened)->extract(chosen, directory, kMaxMemberBytes);
}

}  // namespace stackpack::app

namespace stackpack {

Result<std::vector<std::string>> captures_in_archive(const std::string& path) {
  const Result<std::unique_ptr<io::ByteSource>> source = io::open_source(path);
  if (!source) {
    return source.error();
  }
  return (*source)->seekable() ? app::list_members(**source) : std::vector<std::string>{};
}

}  // namespace stackpack
