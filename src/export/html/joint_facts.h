#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "export/html/page_content.h"
#include "export/html/sample_survey.h"

namespace stackpack::exporting {

/// What each file is called in a page of several: its name, or its path where names are not unique.
std::vector<std::string> file_labels(std::span<const std::string> paths);

/// Adds the facts and losses of one file, which stay apart from those of the others.
void add_file_facts(const PageContent& file, const std::string& label, PageContent& content);

/// Title, and the facts that are about all files.
struct JointFigures {
  std::uint64_t samples = 0;
  std::uint64_t threads = 0;
  bool filtered = false;
};
void add_joint_facts(std::span<const std::string> labels, const JointFigures& figures,
                     PageContent& content);

/// The threads of several files. Memory: those of all files.
class JointThreads {
 public:
  /// Adds those of the next file. `label`: what the file is called.
  void add(const SampleSurvey& survey, const std::string& label);

  /// Chooses those with most samples, which have rows of their own. Result: the rows.
  std::vector<PageThread> choose();

  /// By row of a file's survey: the row here, once they are chosen.
  [[nodiscard]] std::vector<std::uint32_t> rows_of_file(std::size_t file) const;

  /// Threads of all files, and those of them that have no row of their own.
  [[nodiscard]] std::uint64_t count() const { return threads_.size() + others_; }
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  std::vector<PageThread> threads_;
  std::vector<std::uint64_t> samples_;
  std::vector<std::size_t> first_of_file_{0};
  std::uint64_t others_ = 0;  // that have no row in the surveys already
  std::uint64_t left_out_ = 0;
  std::vector<std::uint32_t> rows_;  // by thread
  std::uint32_t row_of_others_ = 0;
};

}  // namespace stackpack::exporting
