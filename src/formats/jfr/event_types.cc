#include "formats/jfr/event_types.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

namespace stackpack::jfr {

namespace {

constexpr std::size_t kMostElements = 32;  // inside each other

struct NamedSlot {
  std::string_view name;
  Slot slot;
};
constexpr NamedSlot kNamedSlots[] = {
    {"startTime", Slot::kStartTime},
    {"duration", Slot::kDuration},
    {"samplingPeriod", Slot::kSamplingPeriod},
    {"eventThread", Slot::kEventThread},
    {"sampledThread", Slot::kSampledThread},
    {"stackTrace", Slot::kStackTrace},
    {"state", Slot::kState},
    {"allocationSize", Slot::kAllocationSize},
    {"tlabSize", Slot::kTlabSize},
    {"weight", Slot::kWeight},
    {"samples", Slot::kSamples},
    {"size", Slot::kSize},
    {"amount", Slot::kAmount},
    {"lostSamples", Slot::kAmount},
    {"pid", Slot::kPid},
    {"jvmArguments", Slot::kJvmArguments},
    {"javaArguments", Slot::kJavaArguments},
    {"truncated", Slot::kTruncated},
    {"frames", Slot::kFrames},
    {"method", Slot::kMethod},
    {"lineNumber", Slot::kLineNumber},
    {"type", Slot::kType},
    {"name", Slot::kName},
    {"descriptor", Slot::kDescriptor},
    {"string", Slot::kString},
    {"osName", Slot::kOsName},
    {"osThreadId", Slot::kOsThreadId},
    {"javaName", Slot::kJavaName},
    {"javaThreadId", Slot::kJavaThreadId},
};

struct NamedCoding {
  std::string_view name;
  Coding coding;
};
constexpr NamedCoding kNamedCodings[] = {
    {"boolean", Coding::kByte}, {"byte", Coding::kByte},    {"char", Coding::kShort},
    {"short", Coding::kShort},  {"int", Coding::kInt},      {"long", Coding::kLong},
    {"float", Coding::kFour},   {"double", Coding::kEight}, {"java.lang.String", Coding::kText},
};

Slot slot_of(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kNamedSlots), std::end(kNamedSlots),
                                         [name](const NamedSlot& s) { return s.name == name; });
  return found == std::end(kNamedSlots) ? Slot::kNone : found->slot;
}

std::uint64_t number_of(std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  return parsed.ec == std::errc() && parsed.ptr == end ? number : 0;
}

}  // namespace

bool Type::has(Slot slot) const {
  return std::any_of(members.begin(), members.end(),
                     [slot](const Member& member) { return member.slot == slot; });
}

/// An element of the metadata with the attributes that are understood.
struct EventTypes::Element {
  std::string_view kind;
  std::string_view name;
  std::string_view id;
  std::string_view super_type;
  std::string_view type;
  bool is_constant = false;
  bool is_array = false;

  std::string_view* attribute(std::string_view key) {
    return key == "name"        ? &name
           : key == "id"        ? &id
           : key == "superType" ? &super_type
           : key == "class"     ? &type
                                : nullptr;
  }
};

const Type* EventTypes::find(std::uint64_t id) const {
  const auto found = index_.find(id);
  return found == index_.end() ? nullptr : &types_[found->second];
}

bool EventTypes::read(bytes::ByteCursor in, const NumberCoding& coding) {
  coding.read_long(in);  // start
  coding.read_long(in);  // duration
  coding.read_long(in);  // id
  const std::uint32_t count = coding.read_int(in);
  if (!in.ok() || count > in.remaining() || count > kMostTexts) {
    return false;
  }
  std::vector<std::string> texts(count);
  for (std::string& text : texts) {
    coding.read_text(in, text);
  }
  EventTypes fresh;
  if (!in.ok() || !fresh.read_elements(in, coding, texts) || !fresh.link()) {
    return false;
  }
  *this = std::move(fresh);
  return true;
}

bool EventTypes::read_elements(bytes::ByteCursor& in, const NumberCoding& coding,
                               const std::vector<std::string>& texts) {
  constexpr std::uint32_t kNoType = ~std::uint32_t{0};
  struct Open {
    std::uint32_t left = 0;  // elements in it that are not read yet
    std::uint32_t type = kNoType;
  };
  const auto text = [&]() -> std::string_view {
    const std::uint32_t number = coding.read_int(in);
    return number < texts.size() ? std::string_view(texts[number]) : std::string_view();
  };
  std::vector<Open> open = {{1, kNoType}};
  while (!open.empty()) {
    if (open.back().left == 0) {
      open.pop_back();
      continue;
    }
    --open.back().left;
    Element element;
    element.kind = text();
    const std::uint32_t attributes = coding.read_int(in);
    for (std::uint32_t i = 0; i < attributes && in.ok(); ++i) {
      const std::string_view key = text();
      const std::string_view value = text();
      std::string_view* const attribute = element.attribute(key);
      if (attribute != nullptr) {
        *attribute = value;
      }
      element.is_constant |= key == "constantPool" && value == "true";
      element.is_array |= key == "dimension" && value != "0";
    }
    const std::uint32_t children = coding.read_int(in);
    if (!in.ok() || open.size() >= kMostElements || !take(element, open.back().type)) {
      return false;
    }
    const bool is_class = element.kind == "class" && !types_.empty();
    open.push_back({children, is_class ? static_cast<std::uint32_t>(types_.size() - 1) : kNoType});
  }
  return true;
}

// The name in version 2 of a type that version 1 has: com.oracle.jdk.X, com.oracle.jfr.types.X.
std::string EventTypes::in_version_2(std::string_view name) {
  constexpr std::string_view kEvents = "com.oracle.jdk.";
  constexpr std::string_view kTypes = "com.oracle.jfr.";
  return name.starts_with(kEvents)  ? "jdk." + std::string(name.substr(kEvents.size()))
         : name.starts_with(kTypes) ? "jdk." + std::string(name.substr(kTypes.size()))
                                    : std::string(name);
}

bool EventTypes::take(const Element& element, std::uint32_t parent) {
  if (element.kind == "class") {
    Type type;
    type.id = number_of(element.id);
    type.name = element.name;
    type.known_as = in_version_2(element.name);
    type.is_event = element.super_type == "jdk.jfr.Event";
    type.is_text = element.name == "java.lang.String";
    index_.try_emplace(type.id, static_cast<std::uint32_t>(types_.size()));
    types_.push_back(std::move(type));
  } else if (element.kind == "field" && parent < types_.size()) {
    Member member;
    member.type = number_of(element.type);
    member.coding = element.is_constant ? Coding::kKey : Coding::kValue;
    member.is_array = element.is_array;
    member.slot = slot_of(element.name);
    types_[parent].members.push_back(member);
    ++members_;
  }
  return types_.size() <= kMostTypes && members_ <= kMostMembers;
}

// What members that are no constants are made of. False: of a type that is not described.
bool EventTypes::link() {
  for (Type& type : types_) {
    for (Member& member : type.members) {
      if (member.coding == Coding::kKey) {
        continue;
      }
      const auto found = index_.find(member.type);
      if (found == index_.end()) {
        return false;
      }
      member.index = found->second;
      const std::string_view name = types_[member.index].name;
      const auto* const primitive =
          std::find_if(std::begin(kNamedCodings), std::end(kNamedCodings),
                       [name](const NamedCoding& coding) { return coding.name == name; });
      member.coding = primitive == std::end(kNamedCodings) ? Coding::kValue : primitive->coding;
    }
  }
  return !types_.empty();
}

}  // namespace stackpack::jfr
