// As much of XML as manifests of providers have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stackpack::etl {

/// Takes the next tag of `text`, what is between its brackets; nothing at the end.
std::optional<std::string_view> next_tag(std::string_view& text);

/// Whether it is <NAME ...>.
bool is_tag(std::string_view tag, std::string_view name);

/// The value of an attribute of a tag; empty when there is none.
std::string attribute(std::string_view tag, std::string_view name);

/// A decimal number in all of `text`.
std::optional<std::uint16_t> number_of(std::string_view text);

/// "Provider/Task/Opcode"; what says nothing is left out. Empty: there is no task.
std::string event_title(std::string_view provider, std::string_view task, std::string_view opcode);

/// That of an <event ..> of a manifest.
std::string manifest_event_title(std::string_view provider, std::string_view tag);

}  // namespace stackpack::etl
