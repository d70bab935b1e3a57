#include "export/html/joint_threads.h"

#include <utility>

namespace stackpack::exporting {

void JointThreads::add(const SampleSurvey& survey, const std::string& label) {
  const std::size_t own = survey.threads.size() - (survey.other_threads != 0 ? 1 : 0);
  for (std::size_t i = 0; i < own; ++i) {
    PageThread& thread = threads_.emplace_back(survey.threads[i]);
    thread.process += thread.process.empty() ? "(" : " (";
    thread.process += label + ')';
    samples_.push_back(survey.samples_of_thread[i]);
  }
  others_ += survey.other_threads;
  first_of_file_.push_back(threads_.size());
}

std::vector<PageThread> JointThreads::choose() {
  const std::vector<std::uint32_t> chosen = busiest(samples_);
  row_of_others_ = static_cast<std::uint32_t>(chosen.size());
  left_out_ = others_ + threads_.size() - chosen.size();
  rows_.assign(threads_.size(), row_of_others_);
  std::vector<PageThread> kept;
  kept.reserve(chosen.size() + 1);
  for (const std::uint32_t thread : chosen) {
    rows_[thread] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(std::move(threads_[thread]));
  }
  if (left_out_ != 0) {
    kept.push_back(other_threads(left_out_));
  }
  return kept;
}

std::vector<std::uint32_t> JointThreads::rows_of_file(std::size_t file) const {
  const auto begin = rows_.begin() + static_cast<std::ptrdiff_t>(first_of_file_[file]);
  const auto end = rows_.begin() + static_cast<std::ptrdiff_t>(first_of_file_[file + 1]);
  std::vector<std::uint32_t> rows(begin, end);
  rows.push_back(row_of_others_);  // the last of a survey that has one for others
  return rows;
}

}  // namespace stackpack::exporting
