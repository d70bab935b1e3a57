#include "cli/definitions/packing_options.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "bytes/quoted.h"
#include "cli/definitions/option_kinds.h"
#include "cli/human_text.h"
#include "cli/suggestion.h"

namespace stackpack::cli {

OptionRow* add_files_from(CommandRow& command, std::string& list) {
  return command
      .add_option("--files-from", list,
                  "take more inputs from this file, one a line or separated by NUL; '-' is "
                  "standard input")
      ->type_name("LIST")
      ->group(kInputs);
}

OptionRow* add_output(CommandRow& command, std::string& output) {
  return command.add_option("-o,--output", output, "write this file; '-' is standard output")
      ->type_name("FILE")
      ->group(kOutputs);
}

OptionRow* add_force(CommandRow& command, bool& force) {
  return command
      .add_flag("--force", force,
                "replace an existing output that is neither a .spk file nor empty")
      ->group(kOutputs);
}

void add_file_to_file(CommandRow& command, std::string& file, std::string& output, bool& force) {
  command.add_option("file", file, "a .spk file")->type_name("IN.spk")->required();
  add_output(command, output)->required();
  add_force(command, force);
}

OptionRow* add_level(CommandRow& command, const std::string& more, int& level) {
  return add_number<int>(command, "--level",
                         "compression level of zstd, 1 (fast) to 22 (small)" + more, 1, 22,
                         [&level](int value) { level = value; })
      ->default_str("9")
      ->group(kPacking);
}

OptionRow* add_no_samples(CommandRow& command, bool& samples) {
  return command
      .add_flag_callback(
          "--no-samples", [&samples] { samples = false; },
          "keep counts per callstack, event and process instead of the samples")
      ->group(kPacking);
}

OptionRow* add_time_resolution(CommandRow& command, OptionRow* no_samples,
                               std::uint64_t& resolution_ns) {
  const std::string name = "--time-resolution";
  const auto take = [name, &resolution_ns](const std::string& word) {
    constexpr std::uint64_t kMost = 60'000'000'000;
    const std::optional<std::uint64_t> step = parse_time_step(word);
    if (!step) {
      const std::array<std::string, 4> units = {"ns", "us", "ms", "s"};
      const std::string unit =
          word.substr(std::min(word.find_first_not_of("0123456789."), word.size()));
      const bool known = std::find(units.begin(), units.end(), unit) != units.end();
      refuse(name, fmt::format("invalid time span {}; write for example 1us or 10ms{}",
                               bytes::quoted(word),
                               known || unit.empty() ? "" : did_you_mean(unit, units)));
    }
    if (*step == 0 || *step > kMost) {
      refuse(name, fmt::format("{} is {}", word,
                               *step == 0 ? "too little; at least 1ns" : "too much; at most 60s"));
    }
    resolution_ns = *step;
  };
  return command
      .add_option_function(name, take,
                           "round times of samples down to multiples of this, 1us, 1ms, ..., to "
                           "save space; never out of the lifetime of a process, thread or mapping")
      ->type_name("SPAN")
      ->excludes(no_samples)
      ->group(kPacking);
}

OptionRow* add_progress(CommandRow& command, const std::string& text, ProgressMode& mode) {
  static constexpr std::array kModes = {
      Choice{"auto", static_cast<int>(ProgressMode::kAuto)},
      Choice{"always", static_cast<int>(ProgressMode::kAlways)},
      Choice{"never", static_cast<int>(ProgressMode::kNever)},
  };
  return add_choice(command, "--progress", kModes, text,
                    [&mode](int value) { mode = static_cast<ProgressMode>(value); })
      ->group(kReports);
}

}  // namespace stackpack::cli
