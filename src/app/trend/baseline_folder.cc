#include "app/trend/baseline_folder.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "bytes/hash.h"
#include "io/byte_source.h"
#include "io/directories.h"
#include "io/output_file.h"
#include "io/system_file.h"
#include "io/utf8_path.h"
#include "stackpack/reader.h"

namespace stackpack::app {

namespace {

constexpr std::string_view kEnding = ".spk";
constexpr std::size_t kDigestDigits = 16;
constexpr std::size_t kLeastDigits = 6;
constexpr std::size_t kMostDigits = 18;
constexpr std::size_t kReadBytes = std::size_t{1} << 18;

struct BaselineName {
  std::uint64_t number = 0;
  std::string commit;
  std::string digest;
};

bool is_hex_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

// Nothing for a name that this room does not give.
std::optional<BaselineName> parse_baseline_name(std::string_view name) {
  const std::size_t dash = name.find('-');
  if (!name.ends_with(kEnding) || dash == std::string_view::npos || dash < kLeastDigits ||
      dash > kMostDigits) {
    return std::nullopt;
  }
  BaselineName parsed;
  const auto [end, failure] = std::from_chars(name.data(), name.data() + dash, parsed.number);
  const std::string_view rest = name.substr(dash + 1, name.size() - dash - 1 - kEnding.size());
  if (failure != std::errc{} || end != name.data() + dash || rest.size() < kDigestDigits + 2) {
    return std::nullopt;
  }
  const std::string_view digest = rest.substr(rest.size() - kDigestDigits);
  const std::string_view commit = rest.substr(0, rest.size() - kDigestDigits - 1);
  if (rest[commit.size()] != '-' || !std::all_of(digest.begin(), digest.end(), is_hex_digit) ||
      !is_commit_id(commit)) {
    return std::nullopt;
  }
  parsed.commit = commit;
  parsed.digest = digest;
  return parsed;
}

// Hands on the bytes of a file in parts.
template <typename Take>
Status for_each_part(const std::string& path, const Take& take) {
  auto source = io::open_regular_file(path);
  if (!source) {
    return source.error();
  }
  std::vector<std::byte> buffer(kReadBytes);
  while (true) {
    const Result<std::size_t> read = (*source)->read(buffer);
    if (!read) {
      return read.error();
    }
    if (*read == 0) {
      return {};
    }
    if (const Status taken = take(std::span<const std::byte>(buffer).first(*read)); !taken) {
      return taken;
    }
  }
}

Result<std::string> digest_of_file(const std::string& path) {
  bytes::HashStream hash;
  const Status read = for_each_part(path, [&hash](std::span<const std::byte> part) {
    hash.update(part);
    return Status{};
  });
  if (!read) {
    return read.error();
  }
  std::string text;
  const auto digest = hash.digest();
  for (std::size_t i = 0; i < kDigestDigits / 2; ++i) {
    text += fmt::format("{:02x}", static_cast<unsigned>(digest[i]));
  }
  return text;
}

Error of_folder(Error error) {
  error.part = kOutputPart;
  return error;
}

// The copy has the digest that its name says, whatever becomes of the file meanwhile.
Status copy_baseline(const std::string& from, const std::string& to, const std::string& digest) {
  io::OutputRules rules;
  rules.force = false;
  if (const Status added = io::add_inputs(rules, {&from, 1}); !added) {
    return added;
  }
  auto output = io::OutputFile::create(to, rules);
  if (!output) {
    return of_folder(output.error());
  }
  bytes::HashStream hash;
  const Status copied = for_each_part(from, [&](std::span<const std::byte> part) -> Status {
    hash.update(part);
    const Status written = (*output)->write(part);
    return written ? written : Status(of_folder(written.error()));
  });
  if (!copied) {
    return copied;
  }
  std::string text;
  for (const std::byte byte : hash.digest()) {
    text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  }
  if (!text.starts_with(digest)) {
    return Error{ErrorCode::kIo, kNoOffset, "has changed while it was copied"};
  }
  const Status committed = (*output)->commit();
  return committed ? committed : Status(of_folder(committed.error()));
}

}  // namespace

bool is_commit_id(std::string_view text) {
  constexpr std::size_t kLongest = 100;
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '+' || c == '-';
  };
  return !text.empty() && text.size() <= kLongest && std::all_of(text.begin(), text.end(), good);
}

Result<std::vector<BaselineCommit>> read_baselines(const std::string& folder) {
  const auto names = io::list_directory(folder);
  if (!names) {
    return names.error();
  }
  std::map<std::pair<std::uint64_t, std::string>, BaselineCommit> commits;
  for (const std::string& name : *names) {
    const std::optional<BaselineName> parsed = parse_baseline_name(name);
    const std::string path = fmt::format("{}/{}", folder, name);
    io::FileStatus status;
    if (!parsed || !io::look_at(path, status) || status.kind != io::FileKind::kRegular) {
      continue;
    }
    BaselineCommit& commit = commits[{parsed->number, parsed->commit}];
    commit.number = parsed->number;
    commit.id = parsed->commit;
    commit.runs.push_back({path, parsed->digest, status.bytes});
  }
  std::vector<BaselineCommit> result;
  result.reserve(commits.size());
  for (auto& [key, commit] : commits) {
    result.push_back(std::move(commit));
  }
  return result;
}

std::vector<std::string> latest_runs(std::span<const BaselineCommit> commits, std::size_t count) {
  std::vector<std::string> files;
  const std::size_t first = count == 0 || count >= commits.size() ? 0 : commits.size() - count;
  for (const BaselineCommit& commit : commits.subspan(first)) {
    for (const BaselineRun& run : commit.runs) {
      files.push_back(run.path);
    }
  }
  return files;
}

bool is_folder(const std::string& path) {
  io::FileStatus status;
  return io::look_at(path, status) && status.kind == io::FileKind::kDirectory;
}

Result<std::vector<std::string>> runs_of_folder(const std::string& folder, std::size_t count) {
  const auto commits = read_baselines(folder);
  if (!commits) {
    return commits.error();
  }
  std::vector<std::string> files = latest_runs(*commits, count);
  if (!files.empty()) {
    return files;
  }
  const auto names = io::list_directory(folder);
  if (!names) {
    return names.error();
  }
  for (const std::string& name : *names) {
    if (name.ends_with(kEnding)) {
      files.push_back(fmt::format("{}/{}", folder, name));
    }
  }
  if (files.empty()) {
    return Error{ErrorCode::kUnsupported, kNoOffset,
                 "no .spk files in this folder; stackpack baseline add puts them there"};
  }
  return files;
}

Result<BaselineAddition> add_baseline(const std::string& folder, const std::string& commit,
                                      const std::string& file) {
  if (const auto reader = Reader::open(file); !reader) {
    return reader.error();
  }
  const Result<std::string> digest = digest_of_file(file);
  if (!digest) {
    return digest.error();
  }
  if (const Status made = io::make_directories(folder); !made) {
    return of_folder(made.error());
  }
  const auto commits = read_baselines(folder);
  if (!commits) {
    return of_folder(commits.error());
  }
  std::uint64_t number = commits->empty() ? 1 : commits->back().number + 1;
  const auto known =
      std::find_if(commits->begin(), commits->end(),
                   [&commit](const BaselineCommit& other) { return other.id == commit; });
  if (known != commits->end()) {
    number = known->number;
    const bool there =
        std::any_of(known->runs.begin(), known->runs.end(),
                    [&digest](const BaselineRun& run) { return run.digest == *digest; });
    if (there) {
      return BaselineAddition::kAlreadyThere;
    }
  }
  const std::string name = fmt::format("{:06}-{}-{}{}", number, commit, *digest, kEnding);
  const Status copied = copy_baseline(file, folder + '/' + name, *digest);
  return copied ? Result<BaselineAddition>(BaselineAddition::kAdded) : copied.error();
}

Result<PrunedBaselines> prune_baselines(const std::string& folder, std::size_t keep) {
  const auto commits = read_baselines(folder);
  if (!commits) {
    return commits.error();
  }
  PrunedBaselines pruned;
  const std::size_t count = commits->size() > keep ? commits->size() - keep : 0;
  for (const BaselineCommit& commit : std::span(*commits).first(count)) {
    for (const BaselineRun& run : commit.runs) {
      const Result<std::string> digest = digest_of_file(run.path);
      if (!digest) {
        return digest.error();
      }
      if (*digest != run.digest) {
        pruned.kept.push_back(run.path);
        continue;
      }
      std::error_code failed;
      std::filesystem::remove(io::path_of(run.path), failed);
      if (failed) {
        return Error{ErrorCode::kIo, kNoOffset, "cannot be removed",
                     failed.default_error_condition().value()};
      }
      pruned.removed.push_back(run.path);
    }
  }
  return pruned;
}

}  // namespace stackpack::app
