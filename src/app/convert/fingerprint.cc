#include "app/convert/fingerprint.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/convert/hashed_source.h"
#include "bytes/hash.h"
#include "capture/time_resolution.h"
#include "io/byte_source.h"
#include "io/directories.h"
#include "io/files_read.h"
#include "io/utf8_path.h"
#include "stackpack/reader.h"
#include "stackpack/sources.h"
#include "stackpack/version.h"

namespace stackpack::app {

namespace fs = std::filesystem;

namespace {

constexpr char kNamesSeparator = '-';  // a conversion's fingerprint is digits

Error unreadable(const std::error_code& failed) {
  return {ErrorCode::kIo, kNoOffset, "cannot inspect the input",
          failed.default_error_condition().value()};
}

// The files of a capture, in an order that does not depend on the file system.
Result<std::vector<fs::path>> files_of(const std::string& input) {
  std::error_code failed;
  const bool directory = fs::is_directory(io::path_of(input), failed);
  if (failed) {
    return unreadable(failed);
  }
  if (!directory) {
    return std::vector<fs::path>{io::path_of(input)};
  }
  const Result<std::vector<std::string>> names = io::list_directory(input);
  if (!names) {
    return names.error();
  }
  std::vector<fs::path> files;  // in the order of their names
  for (const std::string& name : *names) {
    fs::path file = io::path_of(input) / io::path_of(name);
    const bool regular = fs::is_regular_file(file, failed);
    if (failed) {
      return unreadable(failed);
    }
    if (regular) {
      files.push_back(std::move(file));
    }
  }
  return files;
}

std::optional<fs::file_time_type> newest_change(const std::string& input) {
  const Result<std::vector<fs::path>> files = files_of(input);
  if (!files) {
    return std::nullopt;
  }
  std::optional<fs::file_time_type> newest;
  for (const fs::path& file : *files) {
    std::error_code failed;
    const fs::file_time_type time = fs::last_write_time(file, failed);
    if (failed) {
      return std::nullopt;
    }
    newest = newest ? std::max(*newest, time) : time;
  }
  return newest;
}

// The content of inputs that are read together, whatever their order; empty when one is not known.
std::string content_of_all(std::vector<std::string> contents) {
  std::sort(contents.begin(), contents.end());
  std::string all;
  for (const std::string& content : contents) {
    if (content.empty()) {
      return {};
    }
    all += all.empty() ? content : ' ' + content;
  }
  return all;
}

}  // namespace

Result<std::string> content_of(const std::string& input) {
  const Result<std::vector<fs::path>> files = files_of(input);
  if (!files) {
    return files.error();
  }
  std::string content;
  for (const fs::path& file : *files) {
    std::error_code failed;
    const bool regular = fs::is_regular_file(file, failed);
    if (failed) {
      return unreadable(failed);
    }
    if (!regular) {
      return std::string();
    }
    Result<std::unique_ptr<io::ByteSource>> source = io::open_source(io::text_of(file));
    if (!source) {
      return source.error();
    }
    const Result<std::string> digest = ContentDigest::of(**source);
    if (!digest) {
      return digest.error();
    }
    // Names inside a directory tell the parts apart; the name of the capture itself is not part.
    content +=
        file == io::path_of(input) ? *digest : io::text_of(file.filename()) + ' ' + *digest + ' ';
  }
  return content;
}

// Of each file of the capture; none of an input that is not there.
Result<ContentWatch::States> ContentWatch::states_of(const std::string& input) {
  std::vector<fs::path> files{io::path_of(input)};
  std::error_code failed;
  if (input != "-") {
    const fs::file_status status = fs::status(io::path_of(input), failed);
    if (status.type() == fs::file_type::not_found) {
      return States{};
    }
    if (failed) {
      return unreadable(failed);
    }
    Result<std::vector<fs::path>> listed = files_of(input);
    if (!listed) {
      return listed.error();
    }
    files = std::move(*listed);
  }
  States states;
  for (const fs::path& file : files) {
    const Result<std::optional<io::FileState>> state = io::state_of_file(io::text_of(file));
    if (!state) {
      return state.error();
    }
    states.push_back(*state);
  }
  return states;
}

Result<ContentWatch> ContentWatch::begin(const std::vector<std::string>& inputs) {
  ContentWatch watch;
  for (const std::string& input : inputs) {
    Watched& watched = watch.inputs_.emplace_back();
    watched.path = input;
    Result<States> states = states_of(input);
    if (!states) {
      return states.error();
    }
    watched.states = std::move(*states);
    if (input != "-" && !watched.states.empty()) {
      Result<std::string> content = content_of(input);
      if (!content) {
        return content.error();
      }
      watched.content = std::move(*content);
    }
  }
  return watch;
}

Result<std::string> ContentWatch::content(const std::string& passed) const {
  std::vector<std::string> contents;
  for (const Watched& watched : inputs_) {
    const Result<States> states = states_of(watched.path);
    if (!states) {
      return states.error();
    }
    if (*states != watched.states) {
      return std::string();
    }
    contents.push_back(watched.content.empty() ? passed : watched.content);
  }
  return content_of_all(std::move(contents));
}

Result<std::string> content_of_inputs(const std::vector<std::string>& inputs) {
  std::vector<std::string> contents;
  for (const std::string& input : inputs) {
    Result<std::string> content = content_of(input);
    if (!content) {
      return content.error();
    }
    contents.push_back(std::move(*content));
  }
  return content_of_all(std::move(contents));
}

std::string fingerprint_of(std::string_view content, const ConvertOptions& options,
                           bool facts_left_out) {
  if (content.empty()) {
    return {};
  }
  std::string text = "stackpack " STACKPACK_VERSION;
  text += " format " + (options.format.empty() ? "0" : options.format);
  text += " level " + std::to_string(options.level);
  text += options.samples ? " samples" : " counts";
  if (options.samples && options.time_resolution_ns > 1) {
    text += " times of " + std::to_string(options.time_resolution_ns);
  }
  text += options.redact ? " redacted" : "";
  text += options.unwind ? " unwound" : "";
  text += options.waits ? "" : " without waits";
  text += options.switch_samples ? "" : " without samples of switches";
  text += options.event_values ? "" : " without values of events";
  text += options.sample_fields ? "" : " without fields of samples";
  text += options.keep_branches ? " with branch stacks" : "";
  text += facts_left_out ? " within " + std::to_string(options.memory_limit) : "";
  text += " member " + options.member + " content ";
  text += content;
  return std::to_string(bytes::xxh3_64(std::as_bytes(std::span(text))));
}

std::string named_fingerprint(std::string_view fingerprint, std::string_view digest) {
  std::string all(fingerprint);
  all += kNamesSeparator;
  all += digest;
  return all;
}

std::string_view conversion_fingerprint(std::string_view fingerprint) {
  return fingerprint.substr(0, fingerprint.find(kNamesSeparator));
}

ConvertOptions options_before_rebasing(ConvertOptions options) {
  options.samples = true;
  options.time_resolution_ns = 0;
  options.level = ConvertOptions{}.level;
  return options;
}

namespace {

// The fingerprint of the one source of a rebased file; empty where it is of several, or keeps
// samples and times otherwise than the options say.
std::string fingerprint_of_rebased(const Reader& reader, const ConvertOptions& options) {
  const auto sources = reader.sources();
  if (!sources || sources->size() != 1 || reader.has_samples() != options.samples) {
    return {};
  }
  const auto metadata = reader.metadata();
  const std::uint64_t wanted = options.samples ? options.time_resolution_ns : 0;
  if (!metadata || (!capture::has_no_times(*metadata) &&
                    std::max<std::uint64_t>(capture::time_resolution_of(*metadata), 1) !=
                        std::max<std::uint64_t>(wanted, 1))) {
    return {};
  }
  return sources->front().fingerprint;
}

}  // namespace

bool is_up_to_date(const std::string& input, const std::string& output, std::string_view content,
                   const ConvertOptions& options, bool named, bool rebased) {
  std::error_code failed;
  const fs::file_time_type written = fs::last_write_time(io::path_of(output), failed);
  // Of what was unwound, the binaries may be others by now, or may be there by now.
  if (failed || content.empty() || options.unwind) {
    return false;
  }
  const std::optional<fs::file_time_type> changed = newest_change(input);
  if (!changed || *changed > written) {
    return false;
  }
  const io::FilesRead::LookOnly look_only;
  const Result<std::unique_ptr<Reader>> reader = Reader::open(output);
  if (!reader) {
    return false;
  }
  const std::string all =
      rebased ? fingerprint_of_rebased(**reader, options) : std::string((*reader)->fingerprint());
  if (rebased && all.empty()) {
    return false;
  }
  const ConvertOptions written_with = rebased ? options_before_rebasing(options) : options;
  const std::string_view conversion = conversion_fingerprint(all);
  return (!named || conversion.size() < all.size()) &&
         (conversion == fingerprint_of(content, written_with, false) ||
          conversion == fingerprint_of(content, written_with, true));
}

}  // namespace stackpack::app
