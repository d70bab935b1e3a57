// A folder of .spk files by commit: what later runs are compared with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stackpack/result.h"

namespace stackpack::app {

/// One file of the folder: NUMBER-COMMIT-DIGEST.spk. NUMBER (six digits or more) is the order of
/// commits, DIGEST (16 hexadecimal digits) the first half of the XXH3-128 of the file's bytes. So a
/// plain listing is in the order of commits, the same bytes are there once, and what has other
/// bytes than its name says was not written by this room.
struct BaselineRun {
  std::string path;
  std::string digest;
  std::uint64_t bytes = 0;
};

struct BaselineCommit {
  std::uint64_t number = 0;
  std::string id;
  std::vector<BaselineRun> runs;  ///< by digest
};

/// 1 to 100 characters of A-Z a-z 0-9 . _ + and -.
bool is_commit_id(std::string_view text);

/// The commits in their order: by number, then id. Other files of the folder are passed over; a
/// folder that is not there is kNotFound. Errors: kIo.
Result<std::vector<BaselineCommit>> read_baselines(const std::string& folder);

/// The files of the last `count` commits (0: all), oldest first.
std::vector<std::string> latest_runs(std::span<const BaselineCommit> commits, std::size_t count);

/// Whether `path` is a folder.
bool is_folder(const std::string& path);

/// What a folder stands for as the old side of a comparison: the files of its last `count` commits;
/// without files of commits its .spk files, in the order of their names. Errors: kNotFound, kIo;
/// kUnsupported when there are none.
Result<std::vector<std::string>> runs_of_folder(const std::string& folder, std::size_t count);

enum class BaselineAddition : std::uint8_t { kAdded, kAlreadyThere };

/// Copies a .spk file into the folder, which is made if it is not there. A commit that is there
/// keeps its number, a new one comes last. The copy appears whole or not at all, and no file is
/// replaced. Errors: those of Reader::open (also for a capture); kIo, of the output's part.
Result<BaselineAddition> add_baseline(const std::string& folder, const std::string& commit,
                                      const std::string& file);

struct PrunedBaselines {
  std::vector<std::string> removed;
  std::vector<std::string> kept;  ///< their bytes are not what their names say
};

/// Removes the files of all but the last `keep` commits, as far as their bytes are those that were
/// added. Errors: kIo, with what was removed before gone.
Result<PrunedBaselines> prune_baselines(const std::string& folder, std::size_t keep);

}  // namespace stackpack::app
