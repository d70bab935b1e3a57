#include "formats/pprof/legacy_profile.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>

#include <re2/re2.h>

#include "bytes/byte_text.h"
#include "codec/decompressed_source.h"
#include "codec/gzip_codec.h"
#include "core/string_table.h"
#include "formats/pprof/legacy_lines.h"
#include "formats/pprof/profile_tables.h"
#include <protozero/pbf_writer.hpp>

namespace stackpack::pprof {

namespace {

using Mapping = LegacyProfile::Mapping;
using re2::RE2;

// Frames of the profilers themselves, by the types of a profile.
// Source: profile/legacy_profile.go of github.com/google/pprof.
constexpr std::string_view kHeapDrop =
    R"(calloc|cfree|malloc|free|memalign|do_memalign|(__)?posix_memalign|pvalloc|valloc|realloc|)"
    R"(tcmalloc::.*|tc_calloc|tc_cfree|tc_malloc|tc_free|tc_memalign|tc_posix_memalign|tc_pvalloc|)"
    R"(tc_valloc|tc_realloc|tc_new|tc_delete|tc_newarray|tc_deletearray|tc_new_nothrow|)"
    R"(tc_newarray_nothrow|malloc_zone_malloc|malloc_zone_calloc|malloc_zone_valloc|)"
    R"(malloc_zone_realloc|malloc_zone_memalign|malloc_zone_free|runtime\..*|BaseArena::.*|)"
    R"((::)?do_malloc_no_errno|(::)?do_malloc_pages|(::)?do_malloc|DoSampledAllocation|)"
    R"(MallocedMemBlock::MallocedMemBlock|_M_allocate|__builtin_(vec_)?delete|)"
    R"(__builtin_(vec_)?new|__gnu_cxx::new_allocator::allocate|__libc_malloc|)"
    R"(__malloc_alloc_template::allocate|allocate|cpp_alloc|operator new(\[\])?|)"
    R"(simple_alloc::allocate)";
constexpr std::string_view kHeapKeep = R"(runtime\.panic|runtime\.reflectcall|runtime\.call[0-9]*)";
constexpr std::string_view kLockDrop =
    R"(RecordLockProfileData|(base::)?RecordLockProfileData.*|(base::)?SubmitMutexProfileData.*|)"
    R"((base::)?SubmitSpinLockProfileData.*|(base::Mutex::)?AwaitCommon.*|(base::Mutex::)?Unlock.*|)"
    R"((base::Mutex::)?UnlockSlow.*|(base::Mutex::)?ReaderUnlock.*|(base::MutexLock::)?~MutexLock.*|)"
    R"((Mutex::)?AwaitCommon.*|(Mutex::)?Unlock.*|(Mutex::)?UnlockSlow.*|(Mutex::)?ReaderUnlock.*|)"
    R"((MutexLock::)?~MutexLock.*|(SpinLock::)?Unlock.*|(SpinLock::)?SlowUnlock.*|)"
    R"((SpinLockHolder::)?~SpinLockHolder.*)";
constexpr std::string_view kCpuDrop =
    "ProfileData::Add|ProfileData::prof_handler|CpuProfiler::prof_handler|__pthread_sighandler|"
    "__restore";

struct DroppedFrames {
  std::string_view drop;
  std::string_view keep;
};

DroppedFrames dropped_frames(const std::vector<std::pair<std::string, std::string>>& types) {
  const std::string& last = types.back().first;
  if (last == "space" || last == "inuse_space") {
    return {kHeapDrop, kHeapKeep};
  }
  return {last == "delay" ? kLockDrop : kCpuDrop, {}};
}

// The first range of a file that was mapped in pieces: `a` goes on in `b`.
bool adjacent(const Mapping& a, const Mapping& b) {
  const auto differ = [](const std::string& x, const std::string& y) {
    return !x.empty() && !y.empty() && x != y;
  };
  return !differ(a.file, b.file) && !differ(a.build_id, b.build_id) && a.limit == b.start &&
         (a.offset == 0 || b.offset == 0 || a.offset + (a.limit - a.start) == b.offset);
}

bool is_library(const std::string& file) {
  static const RE2 library(R"([.]so$|[.]so[._][0-9]+)");
  return RE2::PartialMatch(file, library);
}

// A line of /proc/PID/maps, or START-END FILE (@OFFSET) BUILDID. Code alone.
std::optional<Mapping> mapping_of(std::string_view line) {
  static const RE2 of_proc(
      R"(^\s*(?:0x)?([[:xdigit:]]+)[\s-]?\s*(?:0x)?([[:xdigit:]]+):?(?:\s+([-rwxp]+))?)"
      R"((?:\s+([[:xdigit:]]+))?\s+[[:xdigit:]]+:[[:xdigit:]]+\s+[[:digit:]]+(?:\s+(\S+))?)");
  static const RE2 brief(
      R"(^\s*(?:0x)?([[:xdigit:]]+)[\s-]?\s*(?:0x)?([[:xdigit:]]+):?(?:\s+([-rwxp]+))?)"
      R"((?:\s+(\S+))?(?:\s+\(@([[:xdigit:]]+)\))?(?:\s+([[:xdigit:]]+))?)");
  const re2::StringPiece text(line.data(), line.size());
  std::string start;
  std::string limit;
  std::string permissions;
  std::string offset;
  Mapping mapping;
  if (!RE2::PartialMatch(text, of_proc, &start, &limit, &permissions, &offset, &mapping.file) &&
      !RE2::PartialMatch(text, brief, &start, &limit, &permissions, &mapping.file, &offset,
                         &mapping.build_id)) {
    return std::nullopt;
  }
  const auto first = number_of(start, 16);
  const auto last = number_of(limit, 16);
  const auto from = offset.empty() ? std::uint64_t{0} : number_of(offset, 16);
  if (!first || !last || !from ||
      (!permissions.empty() && permissions.find('x') == std::string::npos)) {
    return std::nullopt;
  }
  mapping.start = *first;
  mapping.limit = *last;
  mapping.offset = *from;
  return mapping;
}

// What glog writes before a line: FILE:LINE] .
std::string_view without_log_head(std::string_view line) {
  static const RE2 head(R"(^[^\[\]]+:[0-9]+]\s)");
  re2::StringPiece rest(line.data(), line.size());
  return RE2::Consume(&rest, head) ? line.substr(line.size() - rest.size()) : line;
}

// `name=value` lines say what `$name` means in those that follow.
void replace_names(const std::vector<std::pair<std::string, std::string>>& names,
                   std::string& line) {
  for (const auto& [name, value] : names) {
    for (std::size_t at = line.find(name); at != std::string::npos;
         at = line.find(name, at + value.size())) {
      line.replace(at, name.size(), value);
    }
  }
}

}  // namespace

std::uint32_t LegacyProfile::location(std::uint64_t address) {
  const auto [known, fresh] =
      by_address_.try_emplace(address, static_cast<std::uint32_t>(locations_.size()));
  if (fresh) {
    locations_.push_back({address, 0, {}, {}, 0});
  }
  return known->second;
}

void LegacyProfile::read_mappings(std::string_view text) {
  constexpr std::size_t kMostNames = 64;
  std::vector<std::pair<std::string, std::string>> names;
  for (LineCursor lines(text); lines.next();) {
    std::string line(without_log_head(lines.line()));
    replace_names(names, line);
    if (auto mapping = mapping_of(line)) {
      mappings_.push_back(std::move(*mapping));
    } else if (const std::size_t equals = line.find('=');
               equals != std::string::npos && names.size() < kMostNames) {
      names.emplace_back("$" + std::string(trimmed(std::string_view(line).substr(0, equals))),
                         trimmed(std::string_view(line).substr(equals + 1)));
    }
  }
  join_adjacent();
  move_program_first();
  correct_first();
  place_locations();
}

void LegacyProfile::join_adjacent() {
  std::vector<Mapping> joined;
  for (Mapping& mapping : mappings_) {
    if (joined.empty() || !adjacent(joined.back(), mapping)) {
      joined.push_back(std::move(mapping));
      continue;
    }
    Mapping& last = joined.back();
    last.limit = mapping.limit;
    last.file = mapping.file.empty() ? std::move(last.file) : std::move(mapping.file);
    last.build_id =
        mapping.build_id.empty() ? std::move(last.build_id) : std::move(mapping.build_id);
  }
  mappings_ = std::move(joined);
}

// pprof takes the first mapping for the program's.
void LegacyProfile::move_program_first() {
  const auto program = std::find_if(mappings_.begin(), mappings_.end(), [](const Mapping& mapping) {
    return !mapping.file.empty() && mapping.file.front() != '[' && !is_library(mapping.file);
  });
  if (program != mappings_.end()) {
    std::swap(mappings_.front(), *program);
  }
}

void LegacyProfile::correct_first() {
  constexpr std::uint64_t kUsualStart = 0x400000;
  if (mappings_.size() > 1 && mappings_[0].file.starts_with("/anon_hugepage") &&
      mappings_[0].limit == mappings_[1].start) {
    mappings_.erase(mappings_.begin());
  }
  if (!mappings_.empty() && mappings_[0].start - mappings_[0].offset == kUsualStart) {
    mappings_[0].start = kUsualStart;
    mappings_[0].offset = 0;
  }
}

void LegacyProfile::place_locations() {
  for (Location& location : locations_) {
    const std::uint64_t address = location.address;
    const auto holds = [address](const Mapping& mapping) {
      return mapping.start <= address && address < mapping.limit;
    };
    // The first part of a mapping that was split may be missing.
    const auto begins_before = [address](const Mapping& mapping) {
      return mapping.offset != 0 && mapping.start - mapping.offset <= address &&
             address < mapping.start;
    };
    auto found = std::find_if(mappings_.begin(), mappings_.end(), holds);
    if (found == mappings_.end() && address != 0) {
      found = std::find_if(mappings_.begin(), mappings_.end(), begins_before);
      if (found != mappings_.end()) {
        found->start -= found->offset;
        found->offset = 0;
      }
    }
    if (found != mappings_.end() && address != 0) {
      location.mapping = static_cast<std::size_t>(found - mappings_.begin()) + 1;
    }
  }
}

std::string LegacyProfile::proto() const {
  std::string bytes;
  protozero::pbf_writer top(bytes);
  core::StringTable strings;
  strings.intern("");
  const auto text = [&strings](std::string_view value) {
    return static_cast<std::int64_t>(strings.intern(value));
  };
  const auto write_type = [&](std::uint32_t field, const auto& type) {
    protozero::pbf_writer message(top, field);
    message.add_int64(kTypeText, text(type.first));
    message.add_int64(kTypeUnit, text(type.second));
  };
  for (const auto& type : types) {
    write_type(kSampleType, type);
  }
  std::vector<std::uint64_t> ids;
  for (const Sample& sample : samples) {
    ids.clear();
    for (const std::uint32_t location : sample.locations) {
      ids.push_back(std::uint64_t{location} + 1);
    }
    protozero::pbf_writer message(top, kSample);
    message.add_packed_uint64(kSampleLocation, ids.begin(), ids.end());
    message.add_packed_int64(kSampleValue, sample.values.begin(), sample.values.end());
    if (sample.block_bytes != 0) {
      protozero::pbf_writer label(message, kSampleLabel);
      label.add_int64(kLabelKey, text("bytes"));
      label.add_int64(kLabelNumber, sample.block_bytes);
    }
  }
  for (std::size_t i = 0; i < mappings_.size(); ++i) {
    protozero::pbf_writer message(top, kMapping);
    message.add_uint64(kMappingId, i + 1);
    message.add_uint64(kMappingStart, mappings_[i].start);
    message.add_uint64(kMappingLimit, mappings_[i].limit);
    message.add_uint64(kMappingOffset, mappings_[i].offset);
    message.add_int64(kMappingFile, text(mappings_[i].file));
    message.add_int64(kMappingBuildId, text(mappings_[i].build_id));
  }
  std::map<std::pair<std::string, std::string>, std::uint64_t> functions;
  for (std::size_t i = 0; i < locations_.size(); ++i) {
    const Location& location = locations_[i];
    protozero::pbf_writer message(top, kLocation);
    message.add_uint64(kLocationId, i + 1);
    message.add_uint64(kLocationMapping, location.mapping);
    message.add_uint64(kLocationAddress, location.address);
    if (!location.function.empty()) {
      const auto function =
          functions.try_emplace({location.function, location.file}, functions.size() + 1).first;
      protozero::pbf_writer line(message, kLocationLine);
      line.add_uint64(1, function->second);
      line.add_int64(2, location.line);
    }
  }
  for (const auto& [name, id] : functions) {
    protozero::pbf_writer message(top, kFunction);
    message.add_uint64(kFunctionId, id);
    message.add_int64(kFunctionName, text(name.first));
    message.add_int64(kFunctionName + 1, text(name.first));
    message.add_int64(kFunctionName + 2, text(name.second));
  }
  const DroppedFrames frames = dropped_frames(types);
  top.add_int64(kDropFrames, text(frames.drop));
  top.add_int64(kKeepFrames, text(frames.keep));
  write_type(kPeriodType, period_type);
  top.add_int64(kPeriod, period);
  top.add_int64(kDurationNanos, duration_ns);
  for (std::uint32_t i = 0; i < strings.size(); ++i) {
    const std::string_view value = strings.text(i);
    top.add_string(kString, value.data(), value.size());
  }
  return bytes;
}

Result<std::string> legacy_content(io::ByteSource& source, std::uint64_t max_bytes) {
  constexpr std::size_t kHeadBytes = std::size_t{1} << 16;
  std::vector<std::byte> packed(kHeadBytes);
  const Result<std::size_t> first = source.read_at(0, packed);
  if (!first) {
    return first.error();
  }
  packed.resize(*first);
  const bool is_gzip = codec::looks_like_gzip(packed);
  std::vector<std::byte> head = packed;
  if (is_gzip) {
    auto plain = codec::decompressed_head(packed, codec::FileCompression::kGzip, kHeadBytes);
    if (!plain) {
      return plain.error();
    }
    head = std::move(*plain);
  }
  if (!looks_like_legacy(bytes::text_of(head))) {
    return std::string();
  }
  codec::GzipDecompressor gzip;
  std::vector<std::byte> content;
  for (std::uint64_t at = 0;;) {
    packed.resize(kHeadBytes);
    const Result<std::size_t> read = source.read_at(at, packed);
    if (!read || *read == 0) {
      return read ? Result<std::string>(std::string(bytes::text_of(content))) : read.error();
    }
    at += *read;
    packed.resize(*read);
    std::span<const std::byte> rest = packed;
    while (!rest.empty() && is_gzip && content.size() <= max_bytes) {
      if (const auto decoded = gzip.decode(rest, kHeadBytes, content); !decoded) {
        return decoded.error();
      }
    }
    if (!is_gzip) {
      content.insert(content.end(), packed.begin(), packed.end());
    }
    if (content.size() > max_bytes) {
      return Error{ErrorCode::kLimit, at, "pprof: the profile is larger than allowed"};
    }
  }
}

}  // namespace stackpack::pprof
