#include "cli/definitions/packing_options.h"

#include <array>

#include "cli/definitions/option_kinds.h"

namespace stackpack::cli {

CLI::Option* add_files_from(CLI::App& command, std::string& list) {
  return command
      .add_option("--files-from", list,
                  "take more inputs from this file, one a line or separated by NUL; '-' is "
                  "standard input")
      ->type_name("LIST")
      ->group(group(kInputs));
}

CLI::Option* add_output(CLI::App& command, std::string& output) {
  return command.add_option("-o,--output", output, "write this file; '-' is standard output")
      ->type_name("FILE")
      ->group(group(kOutputs));
}

CLI::Option* add_force(CLI::App& command, bool& force) {
  return command
      .add_flag("--force", force,
                "replace an existing output that is neither a .spk file nor empty")
      ->group(group(kOutputs));
}

CLI::Option* add_level(CLI::App& command, const std::string& more, int& level) {
  return add_number<int>(command, "--level",
                         "compression level of zstd, 1 (fast) to 22 (small)" + more, 1, 22,
                         [&level](int value) { level = value; })
      ->default_str("9")
      ->group(group(kPacking));
}

CLI::Option* add_no_samples(CLI::App& command, bool& samples) {
  return command
      .add_flag_callback(
          "--no-samples", [&samples] { samples = false; },
          "keep counts per callstack, event and process instead of the samples")
      ->group(group(kPacking));
}

CLI::Option* add_progress(CLI::App& command, const std::string& text, ProgressMode& mode) {
  static constexpr std::array kModes = {
      Choice{"auto", static_cast<int>(ProgressMode::kAuto)},
      Choice{"always", static_cast<int>(ProgressMode::kAlways)},
      Choice{"never", static_cast<int>(ProgressMode::kNever)},
  };
  return add_choice(command, "--progress", kModes, text,
                    [&mode](int value) { mode = static_cast<ProgressMode>(value); })
      ->group(group(kReports));
}

}  // namespace stackpack::cli
