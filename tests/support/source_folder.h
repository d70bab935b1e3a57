#pragma once

#include <string>

namespace stackpack::test {

/// The checkout that the tests were built from, without a slash at the end.
const std::string& source_folder();

}  // namespace stackpack::test
