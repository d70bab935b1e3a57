// One reader for each format, as pprof has them.
// Source: profile/legacy_profile.go and legacy_java_profile.go of github.com/google/pprof.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <optional>

#include <re2/re2.h>

#include "bytes/byte_cursor.h"
#include "formats/pprof/legacy_lines.h"
#include "formats/pprof/legacy_profile.h"

namespace stackpack::pprof {

namespace {

using re2::RE2;
using re2::StringPiece;

constexpr Error kMalformed{ErrorCode::kCorrupt, kNoOffset, "pprof: a malformed line of a profile"};

StringPiece piece(std::string_view text) {
  return {text.data(), text.size()};
}

bool is_space_or_comment(std::string_view line) {
  const std::string_view text = trimmed(line);
  return text.empty() || text.front() == '#';
}

bool begins_memory_map(std::string_view line) {
  return line.find("--- Memory map: ---") != std::string_view::npos ||
         line.find("MAPPED_LIBRARIES:") != std::string_view::npos;
}

// The addresses of a text; nothing where one has more than 64 bits.
std::optional<std::vector<std::uint64_t>> addresses_of(std::string_view text) {
  static const RE2 hexadecimal("0x([0-9a-f]+)");
  std::vector<std::uint64_t> addresses;
  StringPiece rest = piece(text);
  std::string digits;
  while (RE2::FindAndConsume(&rest, hexadecimal, &digits)) {
    const auto address = number_of(digits, 16);
    if (!address) {
      return std::nullopt;
    }
    addresses.push_back(*address);
  }
  return addresses;
}

std::optional<std::int64_t> signed_of(std::string_view text) {
  const bool negative = text.starts_with('-');
  const auto number = number_of(text.substr(negative ? 1 : 0));
  constexpr std::uint64_t kMost = ~std::uint64_t{0} >> 1;
  if (!number || *number > kMost) {
    return std::nullopt;
  }
  const auto value = static_cast<std::int64_t>(*number);
  return negative ? -value : value;
}

// A return address stands for the call before it.
enum class Leaf : bool { kIsCall, kIsNoCall };
std::vector<std::uint32_t> locations_of(std::span<const std::uint64_t> addresses, Leaf leaf,
                                        LegacyProfile& profile) {
  std::vector<std::uint32_t> locations;
  for (const std::uint64_t address : addresses) {
    const bool is_call = leaf == Leaf::kIsCall || !locations.empty();
    locations.push_back(profile.location(address - (is_call ? 1 : 0)));
  }
  return locations;
}

// The frame of the signal handler, and the leaf a second time as a return address.
void drop_second_leaf(LegacyProfile& profile) {
  const auto& locations = profile.locations();
  for (LegacyProfile::Sample& sample : profile.samples) {
    if (sample.locations.size() > 1 &&
        locations[sample.locations[0]].address == locations[sample.locations[1]].address + 1) {
      sample.locations.erase(sample.locations.begin() + 1);
    }
  }
}

void read_sections(LineCursor& lines, LegacyProfile& profile) {
  while (!begins_memory_map(lines.line()) && lines.next()) {
  }
  profile.read_mappings(lines.rest());
}

std::int64_t whole(double value) {
  constexpr double kMost = 9.2e18;
  return static_cast<std::int64_t>(std::clamp(value, -kMost, kMost));
}

// A sampler that takes one byte in `rate` misses small blocks: their counts are made up for.
std::pair<std::int64_t, std::int64_t> unsampled(std::int64_t count, std::int64_t size,
                                                std::int64_t rate) {
  if (count == 0 || size == 0) {
    return {0, 0};
  }
  if (rate <= 1) {
    return {count, size};
  }
  const double average = static_cast<double>(size) / static_cast<double>(count);
  const double scale = 1 / (1 - std::exp(-average / static_cast<double>(rate)));
  return {whole(static_cast<double>(count) * scale), whole(static_cast<double>(size) * scale)};
}

// ---- CPU profiles: words of 32 or 64 bits in either order.

struct WordForm {
  bool is_wide = false;
  bytes::ByteOrder order = bytes::ByteOrder::kLittle;

  [[nodiscard]] std::size_t size() const { return is_wide ? 8 : 4; }
  [[nodiscard]] std::uint64_t read(bytes::ByteCursor& in) const {
    return is_wide ? in.read<std::uint64_t>() : in.read<std::uint32_t>();
  }
};

constexpr std::array kWordForms{
    WordForm{false, bytes::ByteOrder::kLittle}, WordForm{false, bytes::ByteOrder::kBig},
    WordForm{true, bytes::ByteOrder::kLittle}, WordForm{true, bytes::ByteOrder::kBig}};

struct CpuHeader {
  WordForm form;
  bool is_java = false;
  std::uint64_t period_us = 0;
};

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::optional<CpuHeader> cpu_header(std::string_view content) {
  for (const WordForm& form : kWordForms) {
    bytes::ByteCursor in(bytes_of(content), 0, form.order);
    std::array<std::uint64_t, 5> words{};
    for (std::uint64_t& word : words) {
      word = form.read(in);
    }
    if (in.ok() && words[0] == 0 && words[1] == 3 && words[2] <= 1 && words[3] != 0 &&
        words[3] < (std::uint64_t{1} << 40) && words[4] == 0) {
      return CpuHeader{form, words[2] == 1, words[3]};
    }
  }
  return std::nullopt;
}

// Where the samples end, or nothing.
std::optional<std::string_view> read_cpu_samples(std::string_view content, const CpuHeader& header,
                                                 LegacyProfile& profile) {
  bytes::ByteCursor in(bytes_of(content), 0, header.form.order);
  in.skip(5 * header.form.size());
  std::vector<std::uint64_t> addresses;
  while (in.remaining() != 0) {
    const std::uint64_t count = header.form.read(in);
    const std::uint64_t depth = header.form.read(in);
    if (!in.ok() || depth > in.remaining() / header.form.size()) {
      return std::nullopt;
    }
    addresses.clear();
    for (std::uint64_t i = 0; i < depth; ++i) {
      addresses.push_back(header.form.read(in));
    }
    if (count == 0 && depth == 1 && addresses[0] == 0) {
      break;
    }
    std::vector<std::uint32_t> locations;
    for (const std::uint64_t address : addresses) {
      const bool is_call = !header.is_java && !locations.empty();
      locations.push_back(profile.location(address - (is_call ? 1 : 0)));
    }
    const auto samples = static_cast<std::int64_t>(count);
    const auto period = static_cast<std::uint64_t>(profile.period);
    profile.samples.push_back(
        {std::move(locations), {samples, static_cast<std::int64_t>(count * period)}, 0});
  }
  return content.substr(in.position());
}

// Nearly all samples have the frame of the signal handler below the leaf: up to two of them.
void drop_handlers(LegacyProfile& profile) {
  constexpr std::size_t kSimilar = 32;
  const std::size_t least = profile.samples.size() - profile.samples.size() / kSimilar;
  for (int i = 0; i < 2; ++i) {
    std::map<std::uint32_t, std::size_t> counts;
    for (const LegacyProfile::Sample& sample : profile.samples) {
      if (sample.locations.size() > 1) {
        ++counts[sample.locations[1]];
      }
    }
    const auto common = std::find_if(counts.begin(), counts.end(),
                                     [least](const auto& count) { return count.second >= least; });
    for (LegacyProfile::Sample& sample : profile.samples) {
      if (common != counts.end() && sample.locations.size() > 1 &&
          sample.locations[1] == common->first) {
        sample.locations.erase(sample.locations.begin() + 1);
      }
    }
  }
}

// ---- Java: what the addresses of locations are called.

void read_java_locations(std::string_view text, LegacyProfile& profile) {
  static const RE2 location(R"(^\s*0x([[:xdigit:]]+)\s+(.*)\s*$)");
  static const RE2 with_line(R"(^(.*)\s+\((.+):(-?[[:digit:]]+)\)$)");
  static const RE2 with_path(R"(^(.*)\s+\((.*)\)$)");
  std::map<std::uint64_t, std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < profile.locations().size(); ++i) {
    numbers.emplace(profile.locations()[i].address, i);
  }
  std::string digits;
  std::string what;
  for (LineCursor lines(text); lines.next();) {
    if (!RE2::PartialMatch(piece(trimmed(lines.line())), location, &digits, &what)) {
      continue;
    }
    const auto address = number_of(digits, 16);
    const auto known = address ? numbers.find(*address) : numbers.end();
    if (known == numbers.end()) {
      continue;
    }
    LegacyProfile::Location& named = profile.locations()[known->second];
    std::string line;
    if (RE2::FullMatch(what, with_line, &named.function, &named.file, &line)) {
      named.line = std::max<std::int64_t>(0, signed_of(line).value_or(0));
    } else if (RE2::FullMatch(what, with_path, &named.function, &named.file)) {
      named.file = named.file.substr(named.file.find_last_of('/') + 1);
    } else {
      named.function = what.find("generated stub/JIT") == std::string::npos ? what : "STUB";
    }
  }
  for (LegacyProfile::Location& named : profile.locations()) {
    named.address = 0;
  }
}

Result<LegacyProfile> read_cpu(std::string_view content, const CpuHeader& header) {
  LegacyProfile profile;
  profile.period = static_cast<std::int64_t>(header.period_us) * 1000;
  profile.period_type = {"cpu", "nanoseconds"};
  profile.types = {{"samples", "count"}, {"cpu", "nanoseconds"}};
  const auto rest = read_cpu_samples(content, header, profile);
  if (!rest) {
    return Error{ErrorCode::kTruncated, kNoOffset, "pprof: the samples of a CPU profile are cut"};
  }
  if (header.is_java) {
    read_java_locations(*rest, profile);
    return profile;
  }
  drop_handlers(profile);
  profile.read_mappings(*rest);
  drop_second_leaf(profile);
  return profile;
}

// ---- Heap profiles, those of growth and of fragmentation.

struct HeapHeader {
  bool is_sampled = false;
  bool has_allocations = false;
  std::int64_t period = 1;
};

std::optional<HeapHeader> heap_header(std::string_view line) {
  static const RE2 heap(
      R"(heap profile: *(\d+): *(\d+) *\[ *(\d+): *(\d+) *\] *@ *(heap[_a-z0-9]*)/?(\d*))");
  static const RE2 other(
      R"(heap profile: *\d+: *\d+ *\[ *\d+: *\d+ *\] @ (growthz?|fragmentationz?))");
  std::array<std::string, 6> parts;
  if (!RE2::PartialMatch(piece(line), heap, &parts[0], &parts[1], &parts[2], &parts[3], &parts[4],
                         &parts[5])) {
    return RE2::PartialMatch(piece(line), other) ? std::optional(HeapHeader{}) : std::nullopt;
  }
  HeapHeader header;
  const auto period = parts[5].empty() ? std::optional<std::int64_t>(0) : signed_of(parts[5]);
  if (!period) {
    return std::nullopt;
  }
  header.has_allocations =
      (parts[2] != parts[0] && parts[2] != "0") || (parts[3] != parts[1] && parts[3] != "0");
  if (parts[4] == "heapz_v2" || parts[4] == "heap_v2" || parts[4] == "heap") {
    header.is_sampled = true;
    header.period = parts[4] == "heap" ? *period / 2 : *period;
  } else if (parts[4] != "heapprofile") {
    return std::nullopt;
  }
  return header;
}

// Counts and bytes of one line.
bool add_heap_values(const std::string& count_text, const std::string& size_text,
                     const HeapHeader& header, LegacyProfile::Sample& sample) {
  const auto count = signed_of(count_text);
  const auto size = signed_of(size_text);
  if (!count || !size || (*count == 0 && *size != 0)) {
    return false;
  }
  std::pair values(*count, *size);
  if (*count != 0) {
    sample.block_bytes = *size / *count;
    values = header.is_sampled ? unsampled(*count, *size, header.period) : values;
  }
  sample.values.push_back(values.first);
  sample.values.push_back(values.second);
  return true;
}

bool add_heap_sample(std::string_view line, const HeapHeader& header, LegacyProfile& profile) {
  static const RE2 form(R"((-?\d+): *(-?\d+) *\[ *(\d+): *(\d+) *] @([ x0-9a-f]*))");
  std::array<std::string, 5> parts;
  if (!RE2::PartialMatch(piece(line), form, &parts[0], &parts[1], &parts[2], &parts[3],
                         &parts[4])) {
    return false;
  }
  LegacyProfile::Sample sample;
  const auto addresses = addresses_of(parts[4]);
  if (!addresses ||
      (header.has_allocations && !add_heap_values(parts[2], parts[3], header, sample)) ||
      !add_heap_values(parts[0], parts[1], header, sample)) {
    return false;
  }
  sample.locations = locations_of(*addresses, Leaf::kIsCall, profile);
  profile.samples.push_back(std::move(sample));
  return true;
}

Result<LegacyProfile> read_heap(std::string_view content, const HeapHeader& header) {
  LegacyProfile profile;
  profile.period = header.period;
  profile.period_type = {"space", "bytes"};
  profile.types = {{"objects", "count"}, {"space", "bytes"}};
  if (header.has_allocations) {
    profile.types = {{"alloc_objects", "count"},
                     {"alloc_space", "bytes"},
                     {"inuse_objects", "count"},
                     {"inuse_space", "bytes"}};
  }
  LineCursor lines(content);
  lines.next();
  while (lines.next() && !begins_memory_map(lines.line())) {
    if (!is_space_or_comment(lines.line())) {
      profile.damaged += add_heap_sample(lines.line(), header, profile) ? 0U : 1U;
    }
  }
  read_sections(lines, profile);
  return profile;
}

// ---- Counts of Go: goroutine, threadcreate.

std::string count_type(std::string_view line) {
  static const RE2 start(R"((\S+) profile: total \d+)");
  std::string type;
  return RE2::FullMatch(piece(line), start, &type) ? type : std::string();
}

Result<LegacyProfile> read_counts(LineCursor lines, const std::string& type) {
  static const RE2 form(R"((\d+) @((?: 0x[0-9a-f]+)+))");
  LegacyProfile profile;
  profile.period = 1;
  profile.period_type = {type, "count"};
  profile.types = {{type, "count"}};
  while (lines.next() && !lines.line().starts_with("---")) {
    if (is_space_or_comment(lines.line())) {
      continue;
    }
    std::string count;
    std::string stack;
    const bool fits = RE2::FullMatch(piece(lines.line()), form, &count, &stack);
    const auto number = signed_of(count);
    const auto addresses = addresses_of(stack);
    if (!fits || !number || !addresses) {
      ++profile.damaged;
      continue;
    }
    profile.samples.push_back({locations_of(*addresses, Leaf::kIsCall, profile), {*number}, 0});
  }
  read_sections(lines, profile);
  return profile;
}

// ---- Threads.

bool is_thread_head(std::string_view line) {
  static const RE2 form(R"(--- Thread ([[:xdigit:]]+) \(name: (.*)/(\d+)\) stack: ---)");
  return RE2::PartialMatch(piece(line), form);
}

bool is_threads_head(std::string_view line) {
  static const RE2 form(R"(--- threadz \d+ ---)");
  return RE2::PartialMatch(piece(line), form);
}

// The addresses of a thread, up to the next heading; none: they are those of the thread before.
std::optional<std::vector<std::uint64_t>> read_thread(LineCursor& lines) {
  std::vector<std::uint64_t> all;
  bool is_same = false;
  while (lines.next() && !trimmed(lines.line()).starts_with("---")) {
    is_same = is_same || lines.line().find("same as previous thread") != std::string_view::npos;
    const auto addresses = addresses_of(lines.line());
    if (!addresses) {
      return std::nullopt;
    }
    all.insert(all.end(), addresses->begin(), addresses->end());
  }
  return is_same ? std::vector<std::uint64_t>() : all;
}

Result<LegacyProfile> read_threads(LineCursor lines) {
  LegacyProfile profile;
  profile.period = 1;
  profile.period_type = {"thread", "count"};
  profile.types = {{"thread", "count"}};
  if (is_threads_head(lines.line())) {
    while (lines.next() && !begins_memory_map(lines.line()) && !lines.line().starts_with('-')) {
    }
  }
  while (is_thread_head(lines.line())) {
    const auto addresses = read_thread(lines);
    if (!addresses) {
      return Error(kMalformed);
    }
    if (!addresses->empty()) {
      profile.samples.push_back({locations_of(*addresses, Leaf::kIsNoCall, profile), {1}, 0});
    } else if (!profile.samples.empty()) {
      ++profile.samples.back().values[0];
    }
  }
  read_sections(lines, profile);
  drop_second_leaf(profile);
  return profile;
}

// ---- Waiting for locks.

struct Contention {
  std::int64_t period = 1;
  std::int64_t cycles_per_second = 0;
};

// A line `name = value` above the samples. False: it is of another format.
bool take_attribute(std::string_view line, LegacyProfile& profile, Contention& facts) {
  const std::size_t equals = line.find('=');
  const std::string_view key = trimmed(line.substr(0, equals));
  const auto value = signed_of(trimmed(line.substr(equals + 1)));
  if (key == "discarded samples") {
    return true;
  }
  if (!value) {
    return false;
  }
  if (key == "cycles/second") {
    facts.cycles_per_second = *value;
  } else if (key == "sampling period") {
    facts.period = *value;
  } else if (key == "ms since reset") {
    constexpr std::int64_t kNsPerMs = 1'000'000;
    profile.duration_ns = *value < std::int64_t{1} << 40 ? *value * kNsPerMs : 0;
  } else {
    return false;
  }
  return true;
}

bool add_contention(std::string_view line, const Contention& facts, LegacyProfile& profile) {
  static const RE2 form(R"((\d+) *(\d+) @([ x0-9a-f]*))");
  std::array<std::string, 3> parts;
  if (!RE2::PartialMatch(piece(line), form, &parts[0], &parts[1], &parts[2])) {
    return false;
  }
  const auto delay = signed_of(parts[0]);
  const auto count = signed_of(parts[1]);
  const auto addresses = addresses_of(parts[2]);
  if (!delay || !count || !addresses) {
    return false;
  }
  auto delay_ns = static_cast<double>(*delay);
  const bool is_cycles = facts.period > 0 && facts.cycles_per_second > 0;
  if (is_cycles) {
    delay_ns = delay_ns * static_cast<double>(facts.period) /
               (static_cast<double>(facts.cycles_per_second) / 1e9);
  }
  const auto times = static_cast<std::uint64_t>(facts.period > 0 ? facts.period : 1);
  profile.samples.push_back({locations_of(*addresses, Leaf::kIsCall, profile),
                             {static_cast<std::int64_t>(static_cast<std::uint64_t>(*count) * times),
                              is_cycles ? whole(delay_ns) : *delay},
                             0});
  return true;
}

std::optional<LegacyProfile> read_contention(LineCursor lines) {
  LegacyProfile profile;
  Contention facts;
  profile.period_type = {"contentions", "count"};
  profile.types = {{"contentions", "count"}, {"delay", "nanoseconds"}};
  bool more = lines.next();
  for (; more; more = lines.next()) {
    if (is_space_or_comment(lines.line())) {
      continue;
    }
    if (lines.line().find('=') == std::string_view::npos ||
        trimmed(lines.line()).starts_with("---")) {
      break;
    }
    if (!take_attribute(lines.line(), profile, facts)) {
      return std::nullopt;
    }
  }
  profile.period = facts.period;
  for (; more && !trimmed(lines.line()).starts_with("---"); more = lines.next()) {
    if (!is_space_or_comment(lines.line())) {
      profile.damaged += add_contention(lines.line(), facts, profile) ? 0U : 1U;
    }
  }
  read_sections(lines, profile);
  return profile;
}

// ---- Java's heap and locks, as text.

bool take_java_attribute(const std::string& key, const std::string& value, bool is_heap,
                         LegacyProfile& profile) {
  const std::optional<std::int64_t> number = signed_of(value);
  if (key == "format") {
    return value == "java";
  }
  if (key == "resolution") {
    profile.types =
        is_heap ? std::vector<std::pair<std::string, std::string>>{{"inuse_objects", "count"},
                                                                   {"inuse_space", value}}
                : std::vector<std::pair<std::string, std::string>>{{"contentions", "count"},
                                                                   {"delay", value}};
    return true;
  }
  if (is_heap || !number) {
    return false;
  }
  if (key == "sampling period") {
    profile.period_type = {"contentions", "count"};
    profile.period = *number;
    return true;
  }
  constexpr std::int64_t kNsPerMs = 1'000'000;
  profile.duration_ns = *number < std::int64_t{1} << 40 ? *number * kNsPerMs : 0;
  return key == "ms since reset";
}

bool add_java_sample(std::string_view line, bool is_heap, LegacyProfile& profile) {
  static const RE2 form(R"( *(\d+) +(\d+) +@ +([ x0-9a-f]*))");
  std::array<std::string, 3> parts;
  if (!RE2::PartialMatch(piece(line), form, &parts[0], &parts[1], &parts[2])) {
    return false;
  }
  const auto size = signed_of(parts[0]);
  const auto count = signed_of(parts[1]);
  const auto addresses = addresses_of(parts[2]);
  if (!size || !count || !addresses || (is_heap && *count == 0)) {
    ++profile.damaged;
    return true;
  }
  LegacyProfile::Sample sample;
  for (const std::uint64_t address : *addresses) {
    sample.locations.push_back(profile.location(address));
  }
  constexpr std::int64_t kHeapRate = 524'288;
  std::pair values(*count, *size);
  if (is_heap) {
    sample.block_bytes = *size / *count;
    values = unsampled(*count, *size, kHeapRate);
  } else if (profile.period != 0) {
    const auto times = static_cast<std::uint64_t>(profile.period);
    values = {static_cast<std::int64_t>(static_cast<std::uint64_t>(*count) * times),
              static_cast<std::int64_t>(static_cast<std::uint64_t>(*size) * times)};
  }
  sample.values = {values.first, values.second};
  profile.samples.push_back(std::move(sample));
  return true;
}

Result<LegacyProfile> read_java(LineCursor lines, bool is_heap) {
  static const RE2 attribute(R"(([\w ]+)=([\w ]+))");
  LegacyProfile profile;
  bool more = lines.next();
  std::string key;
  std::string value;
  for (; more; more = lines.next()) {
    if (trimmed(lines.line()).empty()) {
      continue;
    }
    if (!RE2::PartialMatch(piece(lines.line()), attribute, &key, &value)) {
      break;
    }
    if (!take_java_attribute(std::string(trimmed(key)), std::string(trimmed(value)), is_heap,
                             profile)) {
      return Error(kMalformed);
    }
  }
  if (profile.types.empty()) {
    return Error(kMalformed);
  }
  std::string_view names;
  for (; more; more = lines.next()) {
    if (!trimmed(lines.line()).empty() && !add_java_sample(lines.line(), is_heap, profile)) {
      break;
    }
    names = lines.rest();
  }
  read_java_locations(names, profile);
  return profile;
}

bool is_contention_head(std::string_view line) {
  return line.starts_with("--- contentionz ") || line.starts_with("--- mutex:") ||
         line.starts_with("--- contention:");
}

// The first line that is neither empty nor a comment.
LineCursor at_content(std::string_view text) {
  LineCursor lines(text);
  while (lines.next() && is_space_or_comment(lines.line())) {
  }
  return lines;
}

}  // namespace

bool looks_like_legacy(std::string_view head) {
  const std::string_view first = head.substr(0, head.find('\n'));
  const LineCursor content = at_content(head);
  const std::string_view line = content.line();
  return cpu_header(head) || heap_header(first) || !count_type(line).empty() ||
         is_threads_head(line) || is_thread_head(line) || is_contention_head(first) ||
         trimmed(first) == "--- heapz 1 ---";
}

Result<LegacyProfile> read_legacy(std::string_view content) {
  const std::string_view first = content.substr(0, content.find('\n'));
  if (const auto header = cpu_header(content)) {
    return read_cpu(content, *header);
  }
  if (const auto header = heap_header(first)) {
    return read_heap(content, *header);
  }
  const LineCursor lines = at_content(content);
  if (const std::string type = count_type(lines.line()); !type.empty()) {
    return read_counts(lines, type);
  }
  if (is_threads_head(lines.line()) || is_thread_head(lines.line())) {
    return read_threads(lines);
  }
  LineCursor whole(content);
  whole.next();
  if (is_contention_head(first)) {
    if (auto profile = read_contention(whole)) {
      return std::move(*profile);
    }
  }
  return read_java(whole, trimmed(first) == "--- heapz 1 ---");
}

}  // namespace stackpack::pprof
