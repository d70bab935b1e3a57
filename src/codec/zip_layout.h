// Numbers of the zip format, for its reader and its writer (PKWARE's APPNOTE.TXT 6.3.10).
#pragma once

#include <cstddef>
#include <cstdint>

namespace stackpack::codec {

// What the records of an archive begin with.
inline constexpr std::uint32_t kZipLocalHeader = 0x0403'4B50;
inline constexpr std::uint32_t kZipDirectoryEntry = 0x0201'4B50;
inline constexpr std::uint32_t kZipEnd = 0x0605'4B50;
inline constexpr std::uint32_t kZip64End = 0x0606'4B50;
inline constexpr std::uint32_t kZip64Locator = 0x0706'4B50;

// Their sizes, without what is of any length.
inline constexpr std::size_t kZipLocalHeaderBytes = 30;
inline constexpr std::size_t kZipDirectoryEntryBytes = 46;
inline constexpr std::size_t kZipEndBytes = 22;
inline constexpr std::size_t kZip64EndBytes = 56;
inline constexpr std::size_t kZipLocatorBytes = 20;

// Flags of a member.
inline constexpr std::uint16_t kZipEncrypted = 1U << 0;
inline constexpr std::uint16_t kZipUtf8 = 1U << 11;

// How the content of a member is packed.
inline constexpr std::uint16_t kZipStored = 0;
inline constexpr std::uint16_t kZipDeflated = 8;

}  // namespace stackpack::codec
