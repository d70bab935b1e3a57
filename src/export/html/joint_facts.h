#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "export/html/page_content.h"

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

}  // namespace stackpack::exporting
