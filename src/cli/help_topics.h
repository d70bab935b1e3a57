#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stackpack::cli {

/// The text of `stackpack help TOPIC`; empty for an unknown topic.
std::string_view topic_text(std::string_view topic);

std::vector<std::string> topic_names();

}  // namespace stackpack::cli
