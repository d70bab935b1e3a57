// Every constant of the .spk format, version 1. docs/format.md is the specification; a test
// compares its tables with this file.
//
// A file is: header, sections, directory, trailer. Sections are blocks, each one zstd frame;
// header, directory and trailer are zstd skippable frames. The parts touch: every byte belongs to
// one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stackpack::spk {

/// The largest number in a column whose values have 32 bits.
inline constexpr std::uint64_t kMax32 = ~std::uint32_t{0};

inline constexpr std::uint16_t kFormatMajor = 1;
inline constexpr std::uint16_t kFormatMinor = 1;

// Header, directory and trailer: zstd skippable frames 0x184D2A50 + nibble.
inline constexpr std::uint32_t kSkippableMagic = 0x184D2A50;
inline constexpr unsigned kHeaderNibble = 0xA;
inline constexpr unsigned kDirectoryNibble = 0xB;
inline constexpr unsigned kTrailerNibble = 0xC;
inline constexpr std::size_t kSkippableHeaderBytes = 8;

inline constexpr std::string_view kHeaderMagic = "STACKPAK";
inline constexpr std::string_view kTrailerMagic = "STACKEND";
inline constexpr std::size_t kHeaderBytes = 32;
inline constexpr std::size_t kTrailerBytes = 64;
inline constexpr std::size_t kDirectoryFixedBytes = 16;  ///< before the first section record
inline constexpr std::size_t kSectionRecordBytes = 64;
inline constexpr std::size_t kBlockRecordBytes = 16;
inline constexpr std::uint32_t kMaxSections = 1024;

enum class SectionKind : std::uint32_t {
  kSummary = 1,
  kFrames = 2,
  kEdges = 3,
  kPages = 4,
  kPageIndex = 5,
  kSamples = 6,
  kSampleIndex = 7,
  kStackCounts = 8,
  kEvents = 9,
  kProcesses = 10,
  kThreads = 11,
  kModules = 12,
  kMetadata = 13,
  kFunctions = 14,
  kInlinedCalls = 15,
  kLines = 16,
  kTexts = 17,
  kSources = 18,
  kLineBirths = 19,
  kIntervals = 20,
  kWaitReasons = 21,
  kEventValues = 25,
  kValueKinds = 26,
  kValueTexts = 27,
  kBranchEdges = 30,
  kBranchRanges = 31,
  kSampleFields = 35,
  kControlGroups = 36,
  kBranchEntries = 40,
  kBranchSuccessors = 41,
  kBranchPages = 42,
  kBranchPageIndex = 43,
  kCycleValues = 44,
  kCycleSuccessors = 45,
  kCyclePages = 46,
  kCyclePageIndex = 47,
  kLabelSets = 50,
  kFunctionAliases = 55,
  kAliasTexts = 56,
  kModuleFiles = 57,
};

/// Bits of a section record's flags. Others must be zero.
inline constexpr std::uint32_t kSectionRequired =
    1;                                               ///< a reader that does not know it must refuse
inline constexpr std::uint32_t kSectionIndexed = 2;  ///< blocks listed in an index section instead
inline constexpr std::uint32_t kSectionFlagMask = 3;

struct SectionName {
  SectionKind kind;
  std::string_view name;
  bool required;
  bool indexed;
};
inline constexpr std::array<SectionName, 40> kSectionNames{{
    {SectionKind::kSummary, "summary", true, false},
    {SectionKind::kFrames, "frames", true, false},
    {SectionKind::kEdges, "edges", true, false},
    {SectionKind::kPages, "pages", true, true},
    {SectionKind::kPageIndex, "page_index", true, false},
    {SectionKind::kSamples, "samples", true, true},
    {SectionKind::kSampleIndex, "sample_index", true, false},
    {SectionKind::kStackCounts, "stack_counts", true, false},
    {SectionKind::kEvents, "events", true, false},
    {SectionKind::kProcesses, "processes", true, false},
    {SectionKind::kThreads, "threads", true, false},
    {SectionKind::kModules, "modules", true, false},
    {SectionKind::kMetadata, "metadata", false, false},
    {SectionKind::kFunctions, "functions", false, false},
    {SectionKind::kInlinedCalls, "inlined_calls", false, false},
    {SectionKind::kLines, "lines", false, false},
    {SectionKind::kTexts, "texts", false, false},
    {SectionKind::kSources, "sources", false, false},
    {SectionKind::kLineBirths, "line_births", false, false},
    {SectionKind::kIntervals, "intervals", false, false},
    {SectionKind::kWaitReasons, "wait_reasons", false, false},
    {SectionKind::kEventValues, "event_values", false, false},
    {SectionKind::kValueKinds, "value_kinds", false, false},
    {SectionKind::kValueTexts, "value_texts", false, false},
    {SectionKind::kBranchEdges, "branch_edges", false, false},
    {SectionKind::kBranchRanges, "branch_ranges", false, false},
    {SectionKind::kSampleFields, "sample_fields", false, false},
    {SectionKind::kControlGroups, "control_groups", false, false},
    {SectionKind::kBranchEntries, "branch_entries", false, false},
    {SectionKind::kBranchSuccessors, "branch_successors", false, false},
    {SectionKind::kBranchPages, "branch_pages", false, true},
    {SectionKind::kBranchPageIndex, "branch_page_index", false, false},
    {SectionKind::kCycleValues, "cycle_values", false, false},
    {SectionKind::kCycleSuccessors, "cycle_successors", false, false},
    {SectionKind::kCyclePages, "cycle_pages", false, true},
    {SectionKind::kCyclePageIndex, "cycle_page_index", false, false},
    {SectionKind::kLabelSets, "label_sets", false, false},
    {SectionKind::kFunctionAliases, "function_aliases", false, false},
    {SectionKind::kAliasTexts, "alias_texts", false, false},
    {SectionKind::kModuleFiles, "module_files", false, false},
}};

/// What a file says about names.
inline constexpr std::array kNameSections{SectionKind::kFunctions,  SectionKind::kInlinedCalls,
                                          SectionKind::kLines,      SectionKind::kTexts,
                                          SectionKind::kLineBirths, SectionKind::kFunctionAliases,
                                          SectionKind::kAliasTexts};

// Items per block. All blocks of a section but the last are full, edge and table blocks excepted.
inline constexpr std::uint32_t kFramesPerBlock = 65'536;
inline constexpr std::uint32_t kEdgesPerBlock = 65'536;  ///< at most; rows as well
inline constexpr std::uint32_t kNodesPerPage = 4'096;
inline constexpr std::uint32_t kPagesPerIndexBlock = 4'096;
inline constexpr std::uint32_t kSamplesPerBlock = 65'536;
inline constexpr std::uint32_t kSampleBlocksPerIndexBlock = 4'096;
inline constexpr std::uint32_t kStackCountsPerBlock = 65'536;
// Tables: at most this many rows, fewer when the texts are long.
inline constexpr std::uint32_t kRowsPerTableBlock = 4'096;

/// Rows of a block of intervals.
inline constexpr std::uint32_t kIntervalsPerBlock = 65'536;
/// Intervals of a file: in all at most so many, and so many for each byte that they take in it.
/// Rows that are alike are stored in next to nothing, and read one by one.
inline constexpr std::uint32_t kFreeIntervals = 262'144;
inline constexpr std::uint32_t kIntervalsPerByte = 2;
/// Reasons of waits, and the longest.
inline constexpr std::uint32_t kMaxWaitReasons = 4'096;
inline constexpr std::uint32_t kMaxWaitReasonBytes = 255;

/// Rows of a block of event values.
inline constexpr std::uint32_t kValuesPerBlock = 16'384;
/// Kinds of event values, the longest name of one or of a field, and most fields.
inline constexpr std::uint32_t kMaxValueKinds = 1'024;
inline constexpr std::uint32_t kMaxValueNameBytes = 255;
inline constexpr std::uint32_t kMaxValueFields = 8;

/// Rows of a block of fields of samples, and most fields.
inline constexpr std::uint32_t kFieldRowsPerBlock = 16'384;
inline constexpr std::uint32_t kMaxSampleFields = 32;

/// Rows of a block of branches that occur in branch stacks.
inline constexpr std::uint32_t kBranchEntriesPerBlock = 65'536;

/// Rows of a block of functions, inlined calls or lines.
inline constexpr std::uint32_t kNamesPerBlock = 4'096;
/// Longest text of a name or file; longer ones are cut.
inline constexpr std::uint32_t kMaxNameBytes = 65'536;

/// Calls inlined into each other at all lines, added up: so many for each row of both tables.
inline constexpr std::uint32_t kInlinedPerRow = 512;

/// Largest content of a block, whatever its section.
inline constexpr std::uint32_t kMaxBlockBytes = std::uint32_t{16} << 20;
/// A table block is closed when its texts pass this size.
inline constexpr std::uint32_t kTableTextTarget = std::uint32_t{1} << 20;
/// Contents of a table with texts: in all at most so many bytes, and so many times its bytes in the
/// file. Texts that are alike are stored in next to nothing, and read in full.
inline constexpr std::uint32_t kFreeTableBytes = std::uint32_t{2} << 20;
inline constexpr std::uint32_t kMostTableRatio = 256;
/// Largest content of the summary, and most events and losses in it.
inline constexpr std::uint32_t kMaxSummaryBytes = std::uint32_t{4} << 20;
inline constexpr std::uint32_t kMaxSummaryRows = 65'536;
/// Largest content of a page.
inline constexpr std::uint32_t kMaxPageBytes = std::uint32_t{1} << 20;
/// Largest content of a sample block, head and body each.
inline constexpr std::uint32_t kMaxSampleBlockBytes = std::uint32_t{4} << 20;

/// Bit of a stored sample's flags: the origin of its callstack, stored as recorded, is unwound.
inline constexpr std::uint8_t kUnwoundFlag = 64;

/// Deepest callstack, in frames.
inline constexpr std::uint32_t kMaxStackDepth = 65'535;
/// Frames in a dictionary.
inline constexpr std::uint64_t kMaxFrames = (std::uint64_t{1} << 28) - 1;
/// Edges in the edge table, and the highest class of one.
inline constexpr std::uint64_t kMaxEdges = std::uint64_t{1} << 30;
inline constexpr unsigned kMaxEdgeClass = 64;

// First byte of a column.
inline constexpr std::uint8_t kPlaneColumn = 0;
inline constexpr std::uint8_t kBucketColumn = 0x10;  ///< + the bits kept beside the leading one
inline constexpr unsigned kMaxKeptBits = 7;

// Callstack code of a sample.
inline constexpr std::uint32_t kNoStackCode = 0;
inline constexpr std::uint32_t kDifferenceCode = 1;
inline constexpr std::uint32_t kFirstGuessCode = 2;
/// Successors of a callstack that a sample can name by a code.
inline constexpr std::uint32_t kStackGuesses = 16;

// Codes of a page: of these values or more, the rest follows as a varint.
inline constexpr std::uint32_t kSpineEscape = 255;
inline constexpr std::uint32_t kPopsEscape = 3;
inline constexpr std::uint32_t kChildEscape = 63;

}  // namespace stackpack::spk
