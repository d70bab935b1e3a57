#pragma once

#include <charconv>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "app/listing/function_titles.h"
#include "app/symbolize/symbolize.h"
#include "bytes/quoted.h"
#include "cli/arguments.h"
#include "cli/option_rows.h"

// The kinds of options that several commands have. Each adds an option to a command and gives it
// back, for its group and default; what it fills must live as long as the command. A value that
// does not fit is a usage error that names the option, the value and what would do.
namespace stackpack::cli {

/// Groups of options in help texts.
inline constexpr std::string_view kInputs = "Inputs";
inline constexpr std::string_view kOutputs = "Outputs";
inline constexpr std::string_view kPacking = "Packing";
inline constexpr std::string_view kFilters = "Filters";
inline constexpr std::string_view kForm = "Form";
inline constexpr std::string_view kNames = "Names";
inline constexpr std::string_view kCaptures =
    "Captures";                                          ///< of commands that take .spk files, too
inline constexpr std::string_view kReports = "Reports";  ///< stands last in every help text

/// A note for commands with filters.
inline constexpr std::string_view kPatterns =
    "NAME may contain * and ?, and options with NAME may be repeated: a sample has to match one of "
    "them. Samples have to match all filters that are given.";

/// A word that an option takes, and what it stands for.
struct Choice {
  std::string_view word;
  int value;
};

/// Ends the parsing: what is wrong with the value of an option.
[[noreturn]] void refuse(const std::string& option, const std::string& text);

/// One of several words; the first is the default. `choices` must be static. `set_other`: takes
/// another word, if it can.
OptionRow* add_choice(CommandRow& command, const std::string& name, std::span<const Choice> choices,
                      const std::string& text, const std::function<void(int)>& set,
                      const std::function<bool(const std::string&)>& set_other = {});

/// --format: a format of captures, or `auto`, which leaves `format` empty.
OptionRow* add_capture_format(CommandRow& command, std::string& format);

/// Bytes, with a unit or without: 64MiB.
OptionRow* add_size(CommandRow& command, const std::string& name, const std::string& text,
                    std::uint64_t& size, std::uint64_t least);

/// The value of an option that is a time.
CaptureTime take_time(const std::string& option, const std::string& word);

OptionRow* add_time(CommandRow& command, const std::string& name, const std::string& text,
                    std::optional<CaptureTime>& time);

/// --from and --to.
void add_times(CommandRow& sub, std::optional<CaptureTime>& from, std::optional<CaptureTime>& to);

/// --frames: how frames are written.
OptionRow* add_frames(CommandRow& command, const std::string& text, FrameStyle& style);

/// --keep-broken: addresses at the root that are no code stay as they were recorded.
OptionRow* add_keep_broken(CommandRow& command, bool& keep);

/// --function-names. Unset without the option.
OptionRow* add_function_names(CommandRow& command, bool linkage,
                              std::optional<app::FunctionNames>& names);

/// `--rows` of `-n,--rows,--limit`.
inline std::string first_long_name(const std::string& names) {
  const std::size_t begin = names.find("--");
  return names.substr(begin, names.find(',', begin) - begin);
}

/// A whole decimal number from `least` to `most`, or nothing.
template <typename T>
std::optional<T> number_of(std::string_view word, T least, T most) {
  T number{};
  const char* const end = word.data() + word.size();
  const auto [rest, failure] = std::from_chars(word.data(), end, number);
  const bool good = failure == std::errc{} && rest == end && number >= least && number <= most;
  return good ? std::optional(number) : std::nullopt;
}

template <typename T>
OptionRow* add_number(CommandRow& command, const std::string& name, const std::string& text,
                      T least, T most, const std::function<void(T)>& set) {
  const std::string called = first_long_name(name);
  const auto take = [called, least, most, set](const std::string& word) {
    const std::optional<T> number = number_of<T>(word, least, most);
    if (!number) {
      refuse(called,
             fmt::format("{} is not a number from {} to {}", bytes::quoted(word), least, most));
    }
    set(*number);
  };
  return command.add_option_function(name, take, text)->type_name("N");
}

/// A number, or an unset optional when the option is not given.
OptionRow* add_id(CommandRow& command, const std::string& name, const std::string& text,
                  std::optional<std::uint32_t>& id);

/// Patterns; the option may be given several times.
OptionRow* add_names(CommandRow& command, const std::string& name, const std::string& text,
                     std::vector<std::string>& names);

/// Which samples, but for the times. NAME is a pattern: * and ? stand for other characters.
void add_filters(CommandRow& sub, SampleFilter& filter);

/// What selects waits among samples: --longer-than and --idle-pools.
void add_wait_filters(CommandRow& sub, SampleFilter& filter);
/// --wakers and --wall.
/// --debuginfod: files of the user's servers.
void add_debuginfod(CommandRow& sub, app::SymbolizeOptions& options, std::string_view where);
void add_wakers(CommandRow& sub, SampleFilter& filter);

/// --longer-than: a span of time.
OptionRow* add_length(CommandRow& sub, const std::string& text, std::uint64_t& length_ns);

/// --count: what figures count.
OptionRow* add_count(CommandRow& sub, CountBy& count);

/// Where files with symbols are looked for. `where` is the group.
void add_file_places(CommandRow& sub, symbolize::SymbolPlaces& places, std::string_view where);

/// --kallsyms and --perf-map. `where` is the group.
void add_map_places(CommandRow& sub, app::SymbolizeOptions& options, std::string_view where);

/// Where symbols come from, and which. `where` is the group.
void add_symbol_places(CommandRow& sub, app::SymbolizeOptions& options, std::string_view where);

/// What a command does to captures that it shows: their format, and where names come from.
void add_capture_reading(CommandRow& sub, CaptureArguments& arguments);
/// The same without --format, which may be another one's.
void add_capture_names(CommandRow& sub, CaptureArguments& arguments);

/// --check: conditions on the --json object. May be given several times.
void add_checks(CommandRow& sub, std::vector<std::string>& checks);

}  // namespace stackpack::cli
