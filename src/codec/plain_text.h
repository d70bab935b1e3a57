// Texts as programs for Windows and old Macs save them, made UTF-8 with line feeds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "io/byte_source.h"

namespace stackpack::codec {

enum class TextEncoding : std::uint8_t {
  kPlain,        ///< nothing is to be done
  kMarkedUtf8,   ///< EF BB BF in front
  kUtf16Little,  ///< with or without FF FE in front
  kUtf16Big,     ///< likewise, FE FF
  kReturns,      ///< lines end with a carriage return alone
};

/// How a text that begins with `head` is encoded; kPlain for whatever is no text. No magic number
/// of a capture begins as one of the others does.
TextEncoding text_encoding_of(std::span<const std::byte> head);

/// The beginning of a text, of which `head` is the first part.
std::vector<std::byte> plain_text_head(std::span<const std::byte> head, TextEncoding encoding);

/// The text as it is read; what is no UTF-16 becomes U+FFFD. Not seekable. Memory: 128 KiB.
/// Errors: those of `text`.
std::unique_ptr<io::ByteSource> plain_text_source(std::unique_ptr<io::ByteSource> text,
                                                  TextEncoding encoding);

}  // namespace stackpack::codec
