#pragma once

#include <string>
#include <vector>

#include "app/batch/batch.h"

namespace stackpack::app {

/// How the name of an output is made.
enum class OutputNaming {
  kBase,  ///< DIR/NAME.spk
  kPath,  ///< DIR/the/path/as/given/NAME.spk
};

struct BatchRequest {
  std::vector<std::string> inputs;
  std::string out_dir;
  bool recursive = false;  ///< directories stand for the captures in them
  OutputNaming naming = OutputNaming::kBase;
};

struct BatchPlan {
  std::vector<BatchJob> jobs;         ///< in the order of the inputs; within a directory by path
  std::vector<std::string> problems;  ///< why this cannot be done; nothing should be done then
  std::vector<std::string> notes;     ///< what was left out
  std::vector<std::string> others;    ///< files in directories that are no captures, by path
};

/// Finds the captures and gives each an output that no other one has.
///
/// The output of an input is the name of the input with `.spk` after it, below `out_dir`; captures
/// found in a directory keep their path below it. So the name depends on the input alone, and a
/// later run over more inputs finds the outputs of the first. Two inputs of one name are a problem
/// that names both, and so is an output that is one of the inputs. An input given twice is
/// converted once.
///
/// Of what lies in a directory, all that is a capture by its content or by its name is an input: a
/// file that only has the name is one that fails. What is wrong with one input, such as a member of
/// an archive that no file can be named after, is that job's problem and stops no other.
BatchPlan plan_batch(const BatchRequest& request);

/// Creates the directories of the outputs. A job whose directory cannot be made gets a problem.
/// Errors: kIo when `out_dir` cannot be made.
Status create_output_directories(const std::string& out_dir, BatchPlan& plan);

/// The lines of a file ("-": standard input), for --files-from. Empty lines do not count; lines may
/// end with NUL instead (find -print0).
Result<std::vector<std::string>> read_file_list(const std::string& path);

}  // namespace stackpack::app
