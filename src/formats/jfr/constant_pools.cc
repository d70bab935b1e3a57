#include "formats/jfr/constant_pools.h"

#include <utility>

namespace stackpack::jfr {

namespace {

// What a constant costs apart from its texts and frames: its row and its place in the index.
constexpr std::uint64_t kConstantBytes = 96;

}  // namespace

enum class ConstantPools::Kind : std::uint8_t {
  kOther,
  kTrace,
  kThread,
  kMethod,
  kClass,
  kSymbol,
  kText,
  kThreadState,
};

ConstantPools::Kind ConstantPools::kind_of(std::string_view type) {
  return type == "jdk.types.StackTrace"    ? Kind::kTrace
         : type == "java.lang.Thread"      ? Kind::kThread
         : type == "jdk.types.Method"      ? Kind::kMethod
         : type == "java.lang.Class"       ? Kind::kClass
         : type == "jdk.types.Symbol"      ? Kind::kSymbol
         : type == "java.lang.String"      ? Kind::kText
         : type == "jdk.types.ThreadState" ? Kind::kThreadState
                                           : Kind::kOther;
}

std::string_view ConstantPools::text_in(const Pool<std::string>& pool, std::uint64_t key) {
  const std::string* const text = pool.find(key);
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

std::string_view ConstantPools::symbol(std::uint64_t key) const {
  return text_in(symbols_, key);
}

std::string_view ConstantPools::class_name(std::uint64_t key) const {
  const std::uint64_t* const name = classes_.find(key);
  return name == nullptr ? std::string_view() : symbol(*name);
}

std::string_view ConstantPools::thread_state(std::uint64_t key) const {
  return text_in(thread_states_, key);
}

std::string_view ConstantPools::text(const ValueRow& row, Slot slot) const {
  const auto at = static_cast<std::size_t>(slot);
  return row.text_keys[at] == 0 ? std::string_view(row.texts[at])
                                : text_in(texts_, row.text_keys[at]);
}

Result<bool> ConstantPools::read(bytes::ByteCursor in, const EventTypes& types,
                                 const NumberCoding& coding, std::uint64_t max_bytes) {
  coding.read_long(in);  // start
  coding.read_long(in);  // duration
  coding.read_long(in);  // distance
  in.read<std::uint8_t>();
  const ValueReader values(types, coding);
  ValueRow row;
  const std::uint32_t pools = coding.read_int(in);
  for (std::uint32_t pool = 0; pool < pools && in.ok(); ++pool) {
    const Type* const type = types.find(coding.read_long(in));
    const std::uint32_t count = coding.read_int(in);
    if (type == nullptr || !in.ok()) {
      return false;
    }
    const Kind kind = kind_of(type->known_as);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint64_t key = coding.read_long(in);
      const std::size_t begin = in.position();
      const bool cut = values.read(*type, in, row);
      if (!in.ok()) {
        return false;
      }
      if (kind == Kind::kOther) {
        continue;
      }
      // Latin-1 may take twice the bytes as UTF-8.
      bytes_ += kConstantBytes + 2 * (in.position() - begin) + row.frames.size() * sizeof(FrameRow);
      if (bytes_ > max_bytes) {
        return Error{ErrorCode::kLimit, in.offset(), "jfr: more constants than allowed"};
      }
      add(kind, key, row, cut);
    }
  }
  return in.ok();
}

void ConstantPools::add(Kind kind, std::uint64_t key, const ValueRow& row, bool cut) {
  switch (kind) {
    case Kind::kTrace:
      if (traces_.find(key) == nullptr) {
        traces_.add(key, {frames_.size(), static_cast<std::uint32_t>(row.frames.size()),
                          row.number(Slot::kTruncated) != 0, cut});
        frames_.insert(frames_.end(), row.frames.begin(), row.frames.end());
      }
      return;
    case Kind::kThread: {
      const std::string_view java = text(row, Slot::kJavaName);
      const std::string_view os = text(row, Slot::kOsName);
      threads_.add(key, {std::string(java.empty() ? os : java), row.number(Slot::kOsThreadId),
                         row.number(Slot::kJavaThreadId)});
      return;
    }
    case Kind::kMethod:
      methods_.add(
          key, {row.number(Slot::kType), row.number(Slot::kName), row.number(Slot::kDescriptor)});
      return;
    case Kind::kClass:
      classes_.add(key, row.number(Slot::kName));
      return;
    case Kind::kSymbol:
      symbols_.add(key, std::string(text(row, Slot::kString)));
      return;
    case Kind::kText:
      texts_.add(key, std::string(text(row, Slot::kString)));
      return;
    case Kind::kThreadState:
      thread_states_.add(key, std::string(text(row, Slot::kName)));
      return;
    case Kind::kOther:
      return;
  }
}

}  // namespace stackpack::jfr
