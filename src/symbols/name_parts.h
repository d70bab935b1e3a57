// What of a function's name a person needs: without parameters, template arguments, result types.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/name_brackets.h"

namespace stackpack::symbols {

/// What is kept of a name, in order: of C++, Rust, Go, .NET, Java, JavaScript, D and C. Names that
/// are none of theirs are kept whole. Not empty but for an empty name; no two parts touch unless
/// the second one starts a name.
/// Cost: linear in the name. Names of more than 4 GiB are cut.
std::vector<NamePart> name_parts(std::string_view name, NameDetail detail = NameDetail::kShort);

/// The bytes of some parts.
std::string text_of_parts(std::string_view name, std::span<const NamePart> parts);

/// The same in one step.
std::string short_name(std::string_view name, NameDetail detail = NameDetail::kShort);

/// For each name the least detail with which no two that differ have one text.
/// Memory: the texts, while it works.
std::vector<NameDetail> distinct_details(std::span<const std::string_view> names);

}  // namespace stackpack::symbols
