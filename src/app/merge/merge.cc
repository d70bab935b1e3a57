#include "stackpack/merge.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "app/convert/last_word.h"
#include "app/merge/merge_attempt.h"
#include "app/merge/merge_input.h"
#include "core/guard.h"
#include "io/directories.h"
#include "io/files_read.h"
#include "io/output_file.h"
#include "io/output_rules.h"
#include "spk/format/directory.h"

namespace stackpack {

namespace {

using app::MergeInput;

Error of_input(Error error, std::size_t input) {
  if (error.part != kOutputPart) {  // a temporary file cannot be written
    error.part = static_cast<std::uint32_t>(input);
  }
  return error;
}

Error of_merge_output(Error error) {
  error.part = kOutputPart;
  return error;
}

// Whether an input is bad. What the machine lacks says nothing of the input, and which of two does
// not fit the other is no question of order: no input is left out for such reasons.
bool is_of_input(const Error& error, std::size_t inputs) {
  return error.part < inputs && error.code != ErrorCode::kCancelled &&
         error.code != ErrorCode::kResource && error.code != ErrorCode::kUnsupported;
}

/// A merge, from the names of files to the file.
class Merge {
 public:
  Merge(const std::vector<std::string>& names, const MergeOptions& options,
        ConvertProgress& progress)
      : names_(names), options_(options), progress_(progress) {}

  Result<MergeReport> run(const std::string& output) {
    Result<io::OutputRules> rules = rules_for_merge();
    if (!rules) {
      return rules.error();
    }
    if (const Status allowed = io::check_output(output, *rules); !allowed) {
      return of_merge_output(allowed.error());
    }
    scratch_ = output == "-" ? io::temporary_directory() : io::directory_of(output);
    if (const Status opened = open_inputs(); !opened) {
      return opened.error();
    }
    // An input may turn out to be bad when its samples are read; then all begins anew without it.
    while (true) {
      progress_.bytes_total = inputs_.size();
      progress_.bytes_done = 0;
      progress_.samples = 0;
      progress_.stage = ConvertStage::kReading;
      app::MergeAttempt attempt(inputs_, scratch_, options_, progress_);
      Status read = attempt.read_tables();
      read = read ? attempt.read_samples() : read;
      if (read) {
        return write(attempt, output, *rules);
      }
      if (!options_.keep_going || !is_of_input(read.error(), inputs_.size())) {
        return read.error();
      }
      leave_out(read.error());
      if (good_inputs() == 0) {
        return read.error();
      }
    }
  }

 private:
  Result<io::OutputRules> rules_for_merge() {
    io::OutputRules rules;
    rules.force = options_.force;
    rules.replaceable = spk::looks_like_spk;
    rules.refusal = "exists and is not a .spk file; option force replaces it";
    std::vector<std::string> there = names_;
    if (options_.keep_going) {
      std::erase_if(there, [](const std::string& name) {
        io::OutputRules alone;
        return !io::add_inputs(alone, std::span(&name, 1));
      });
    }
    const Status added = io::add_inputs(rules, there);
    return added ? Result<io::OutputRules>(std::move(rules)) : added.error();
  }

  Status open_inputs() {
    ConvertOptions options;
    options.format = options_.format;
    options.memory_limit = options_.memory_limit;
    options.encoders = options_.encoders;
    report_.inputs.resize(names_.size());
    inputs_.resize(names_.size());
    for (std::size_t i = 0; i < names_.size(); ++i) {
      report_.inputs[i].file = names_[i];
      ConvertProgress one;
      one.cancelled = progress_.cancelled.load();
      Result<MergeInput> opened = MergeInput::open(names_[i], options, &one);
      if (progress_.cancelled) {
        return Error{ErrorCode::kCancelled, kNoOffset, "interrupted"};
      }
      if (opened) {
        inputs_[i].emplace(std::move(*opened));
        continue;
      }
      const Error error = of_input(opened.error(), i);
      const bool lacks = error.code == ErrorCode::kResource || error.part == kOutputPart;
      if (!options_.keep_going || lacks) {
        return error;
      }
      leave_out(error);
    }
    if (good_inputs() == 0) {
      return report_.inputs.front().error.value_or(
          Error{ErrorCode::kUsage, kNoOffset, "there is nothing to merge"});
    }
    return {};
  }

  void leave_out(const Error& error) {
    inputs_[error.part].reset();
    report_.inputs[error.part].error = error;
    ++report_.bad_inputs;
  }

  [[nodiscard]] std::size_t good_inputs() const {
    return static_cast<std::size_t>(
        std::count_if(inputs_.begin(), inputs_.end(),
                      [](const std::optional<MergeInput>& input) { return input.has_value(); }));
  }

  Result<MergeReport> write(app::MergeAttempt& attempt, const std::string& output,
                            const io::OutputRules& rules) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (!inputs_[i]) {
        continue;
      }
      MergeInputReport& input = report_.inputs[i];
      input.sources = inputs_[i]->sources().size();
      input.repeated = attempt.repeated()[i];
      for (const MergedSource& source : inputs_[i]->sources()) {
        input.callstacks += source.callstacks;
      }
    }
    report_.sources = attempt.sources().size();
    for (const MergedSource& source : attempt.sources()) {
      report_.callstacks_before += source.callstacks;
    }
    progress_.stage = ConvertStage::kCallstacks;
    Result<std::unique_ptr<io::OutputFile>> out = io::OutputFile::create(output, rules);
    if (!out) {
      return of_merge_output(out.error());
    }
    Result<Statistics> statistics = attempt.write(**out);
    if (!statistics) {
      return of_merge_output(statistics.error());
    }
    report_.statistics = std::move(*statistics);
    report_.output_bytes = (*out)->offset();
    if (const Status wanted = app::wait_for_last_word(progress_); !wanted) {
      return wanted.error();
    }
    if (const Status committed = (*out)->commit(); !committed) {
      return of_merge_output(committed.error());
    }
    return std::move(report_);
  }

  const std::vector<std::string>& names_;
  const MergeOptions& options_;
  ConvertProgress& progress_;
  std::string scratch_;
  std::vector<std::optional<MergeInput>> inputs_;  // none: it is bad
  MergeReport report_;
};

}  // namespace

Result<MergeReport> merge(const std::vector<std::string>& inputs, const std::string& output,
                          const MergeOptions& options, ConvertProgress* progress) {
  const io::FilesRead files_read;
  ConvertProgress unwatched;
  return core::guarded([&]() -> Result<MergeReport> {
    if (inputs.empty()) {
      return Error{ErrorCode::kUsage, kNoOffset, "there is nothing to merge"};
    }
    return Merge(inputs, options, progress ? *progress : unwatched).run(output);
  });
}

}  // namespace stackpack
