// Kinds of symbol and type records, numbered as in Microsoft's cvinfo.h.
#pragma once

#include <cstdint>

namespace stackpack::symbolize::codeview {

// Symbols.
inline constexpr std::uint16_t kEnd = 0x0006;
inline constexpr std::uint16_t kThunk = 0x1102;
inline constexpr std::uint16_t kBlock = 0x1103;
inline constexpr std::uint16_t kWith = 0x1104;
inline constexpr std::uint16_t kPublic = 0x110E;
inline constexpr std::uint16_t kLocalProcedure = 0x110F;
inline constexpr std::uint16_t kGlobalProcedure = 0x1110;
inline constexpr std::uint16_t kSeparatedCode = 0x1132;
inline constexpr std::uint16_t kLocalProcedureId = 0x1146;
inline constexpr std::uint16_t kGlobalProcedureId = 0x1147;
inline constexpr std::uint16_t kInlineSite = 0x114D;
inline constexpr std::uint16_t kInlineSiteEnd = 0x114E;
inline constexpr std::uint16_t kProcedureIdEnd = 0x114F;
inline constexpr std::uint16_t kLocalProcedureDpc = 0x1155;
inline constexpr std::uint16_t kLocalProcedureDpcId = 0x1156;
inline constexpr std::uint16_t kInlineSite2 = 0x115D;

// Types and items.
inline constexpr std::uint16_t kClass = 0x1504;
inline constexpr std::uint16_t kStructure = 0x1505;
inline constexpr std::uint16_t kUnion = 0x1506;
inline constexpr std::uint16_t kEnum = 0x1507;
inline constexpr std::uint16_t kInterface = 0x1519;
inline constexpr std::uint16_t kFunctionId = 0x1601;
inline constexpr std::uint16_t kMemberFunctionId = 0x1602;
inline constexpr std::uint16_t kStringId = 0x1605;

[[nodiscard]] constexpr bool is_procedure(std::uint16_t kind) {
  return kind == kLocalProcedure || kind == kGlobalProcedure || kind == kLocalProcedureId ||
         kind == kGlobalProcedureId || kind == kLocalProcedureDpc || kind == kLocalProcedureDpcId;
}

}  // namespace stackpack::symbolize::codeview
