#include "formats/otlp/resource_fields.h"

#include <bit>
#include <charconv>

#include "formats/otlp/message_fields.h"
#include "formats/otlp/message_walk.h"
#include "formats/otlp/otlp_tables.h"

namespace stackpack::otlp {

namespace {

// What this program itself writes where it knows no scope.
constexpr std::string_view kOwnScope = "stackpack";

std::string text_at(std::uint64_t index, OtlpTables* tables) {
  return tables == nullptr ? std::string() : tables->text(index);
}

FieldValue read_attribute(protozero::pbf_reader entry, std::string_view prefix,
                          OtlpTables* tables) {
  FieldValue field;
  while (entry.next()) {
    switch (entry.tag_and_type()) {
      case bytes(kKeyText):
        field.name = entry.get_string();
        break;
      case number(kKeyIndex):
        field.name = text_at(entry.get_uint64(), tables);
        break;
      case bytes(kKeyValue):
        field.value = read_any_value(entry.get_message());
        break;
      default:
        entry.skip();
    }
  }
  if (!field.name.empty()) {
    field.name.insert(0, prefix);
  }
  if (field.value.type == AttributeType::kTextIndex && tables != nullptr) {
    field.value = {AttributeType::kText, 0, text_at(field.value.number, tables)};
  }
  return field;
}

// Text of a value in metadata; what its key has at its end says which type it has.
std::string text_of(const AttributeValue& value) {
  char digits[32];
  switch (value.type) {
    case AttributeType::kText:
      return value.text;
    case AttributeType::kReal: {
      const auto end =
          std::to_chars(std::begin(digits), std::end(digits), std::bit_cast<double>(value.number));
      return {digits, end.ptr};
    }
    default:
      return std::to_string(static_cast<std::int64_t>(value.number));
  }
}

std::string_view ending_of(AttributeType type) {
  switch (type) {
    case AttributeType::kBool:
      return "#bool";
    case AttributeType::kInteger:
      return "#int";
    case AttributeType::kReal:
      return "#real";
    default:
      return "";
  }
}

}  // namespace

void add_resource(std::span<const std::byte> content, OtlpTables* tables, OwnerFields& found) {
  for (auto message = message_of(content); message.next();) {
    if (message.tag_and_type() == bytes(kResourceAttribute)) {
      found.add(read_attribute(message.get_message(), kResourcePrefix, tables));
    } else {
      ++found.not_kept;
      message.skip();
    }
  }
}

void add_scope(std::span<const std::byte> content, OtlpTables* tables, OwnerFields& found) {
  const auto add_text = [&found](std::string_view name, std::string text) {
    found.add({std::string(name), {AttributeType::kText, 0, std::move(text)}});
  };
  for (auto message = message_of(content); message.next();) {
    switch (message.tag_and_type()) {
      case bytes(kScopeName):
        if (std::string name = message.get_string(); !name.empty() && name != kOwnScope) {
          add_text("scope.name", std::move(name));
        }
        break;
      case bytes(kScopeVersion):
        add_text("scope.version", message.get_string());
        break;
      case bytes(kScopeAttribute):
        found.add(read_attribute(message.get_message(), kScopePrefix, tables));
        break;
      default:
        ++found.not_kept;
        message.skip();
    }
  }
}

void ConstantFields::take(Owner owner, const FieldValue& field) {
  const std::size_t size = field.name.size() + field.value.text.size();
  // The process of a resource is that of its samples, which have columns for it.
  const bool is_process =
      field.name == "resource.process.pid" || field.name == "resource.process.executable.name";
  if (is_process || field.name.empty() || field.value.type == AttributeType::kTextIndex ||
      field.value.type == AttributeType::kNone || field.value.text.size() > kLongestText ||
      (field.value.type == AttributeType::kText && field.value.text.empty())) {
    return;
  }
  const auto known = fields_.find(field.name);
  if (known == fields_.end()) {
    if (bytes_ + size <= kMostBytes) {
      bytes_ += size + sizeof(Seen);
      fields_.emplace(field.name, Seen{field.value, 1, owners(owner), false, owner});
    }
    return;
  }
  Seen& seen = known->second;
  // One owner that has a key twice tells it by sample as well.
  seen.differs |= seen.value != field.value || seen.latest == owners(owner);
  seen.latest = owners(owner);
  ++seen.count;
}

bool ConstantFields::is_constant(const FieldValue& field) const {
  const auto known = fields_.find(field.name);
  return known != fields_.end() && is_constant(known->second) && known->second.value == field.value;
}

void ConstantFields::tell(capture::SystemRecorder& system) const {
  for (const auto& [name, seen] : fields_) {
    if (!is_constant(seen)) {
      continue;
    }
    const bool is_text = seen.value.type == AttributeType::kText;
    if (is_text && name == "resource.host.name") {
      system.metadata("host.name", seen.value.text);
    } else {
      system.metadata("otlp." + name + std::string(ending_of(seen.value.type)),
                      text_of(seen.value));
    }
  }
}

}  // namespace stackpack::otlp
