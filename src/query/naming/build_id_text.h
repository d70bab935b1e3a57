#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "stackpack/model.h"

namespace stackpack::query {

/// Lower-case hex digits of `bytes`.
std::string hex_of(std::span<const std::uint8_t> bytes);

/// A PDB identity as symbol servers spell it: GUID and age, `3F2504E04F8911D39A0C0305E82C33011`.
/// A GNU build id gives its first 16 bytes in the same way with age 0, which is what Breakpad and
/// the Firefox Profiler call the debug id of an ELF file. 33 zeros when there is no build id.
std::string breakpad_id(const Module& module);

/// The build id as pprof, OTLP and SQL get it: hex of a GNU id, breakpad_id() of a PDB, or empty.
std::string build_id_text(const Module& module);

}  // namespace stackpack::query
