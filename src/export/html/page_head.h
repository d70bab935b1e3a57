#pragma once

#include <string>

#include "export/html/page_content.h"

namespace stackpack::exporting {

/// The first section of a page: its small tables, as a JSON object.
std::string page_head(const PageContent& content);

}  // namespace stackpack::exporting
