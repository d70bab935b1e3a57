// JFR chunks made by hand: types, constants and events as a test wants them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/test_bytes.h"

namespace stackpack::test {

/// Values of JFR one after another, compressed or not.
class JfrValues {
 public:
  explicit JfrValues(bool compressed = true) : compressed_(compressed) {}

  JfrValues& number(std::uint64_t value, unsigned bytes = 8) {
    if (!compressed_) {
      for (unsigned i = bytes; i-- > 0;) {
        out.u8(static_cast<std::uint8_t>(value >> (8 * i)));
      }
      return *this;
    }
    for (int i = 0; i < 8 && value >= 0x80; ++i) {
      out.u8(static_cast<std::uint8_t>(value | 0x80));
      value >>= 7;
    }
    out.u8(static_cast<std::uint8_t>(value));
    return *this;
  }
  JfrValues& count(std::uint64_t value) { return number(value, 4); }
  JfrValues& byte(std::uint8_t value) {
    out.u8(value);
    return *this;
  }
  JfrValues& text(std::string_view value) {
    byte(3).count(value.size());
    out.text(value);
    return *this;
  }

  TestBytes out{bytes::ByteOrder::kBig};

 private:
  bool compressed_;
};

/// A chunk with the types below, which grows constant by constant and event by event.
class JfrChunk {
 public:
  struct Member {
    std::string name;
    std::uint64_t type;
    bool constant = false;
    bool array = false;
  };
  enum Types : std::uint64_t {
    kInt = 4,
    kLong = 5,
    kBoolean = 6,
    kDouble = 7,
    kText = 20,
    kThread = 21,
    kClass = 22,
    kFrameType = 24,
    kThreadState = 25,
    kTrace = 26,
    kFrame = 27,
    kMethod = 28,
    kSymbol = 30,
    kExecution = 101,
    kMonitor = 102,
    kAllocation = 103,
    kHeap = 104,
    kJvm = 105,
    kWall = 106,
    kDataLoss = 107,
    kError = 108,
  };

  explicit JfrChunk(bool compressed = true) : compressed_(compressed) {
    describe(kInt, "int", {});
    describe(kLong, "long", {});
    describe(kBoolean, "boolean", {});
    describe(kDouble, "double", {});
    describe(kText, "java.lang.String", {});
    describe(
        kThread, "java.lang.Thread",
        {{"osName", kText}, {"osThreadId", kLong}, {"javaName", kText}, {"javaThreadId", kLong}});
    describe(kClass, "java.lang.Class", {{"name", kSymbol, true}, {"modifiers", kInt}});
    describe(kFrameType, "jdk.types.FrameType", {{"description", kText}});
    describe(kThreadState, "jdk.types.ThreadState", {{"name", kText}});
    describe(kTrace, "jdk.types.StackTrace",
             {{"truncated", kBoolean}, {"frames", kFrame, false, true}});
    describe(kFrame, "jdk.types.StackFrame",
             {{"method", kMethod, true},
              {"lineNumber", kInt},
              {"bytecodeIndex", kInt},
              {"type", kFrameType, true}});
    describe(kMethod, "jdk.types.Method",
             {{"type", kClass, true}, {"name", kSymbol, true}, {"descriptor", kSymbol, true}});
    describe(kSymbol, "jdk.types.Symbol", {{"string", kText}});
    const Member start{"startTime", kLong};
    const Member thread{"eventThread", kThread, true};
    const Member trace{"stackTrace", kTrace, true};
    describe(kExecution, "jdk.ExecutionSample",
             {start, {"sampledThread", kThread, true}, trace, {"state", kThreadState, true}}, true);
    describe(kMonitor, "jdk.JavaMonitorEnter", {start, {"duration", kLong}, thread, trace}, true);
    describe(kError, "jdk.JavaErrorThrow", {start, {"duration", kLong}, thread, trace}, true);
    describe(kAllocation, "jdk.ObjectAllocationInNewTLAB",
             {start, thread, trace, {"allocationSize", kLong}, {"tlabSize", kLong}}, true);
    describe(kHeap, "jdk.GCHeapSummary", {start, {"used", kLong}}, true);
    describe(kJvm, "jdk.JVMInformation",
             {start, {"jvmArguments", kText}, {"javaArguments", kText}, {"pid", kLong}}, true);
    describe(kWall, "profiler.WallClockSample",
             {start,
              {"sampledThread", kThread, true},
              trace,
              {"state", kThreadState, true},
              {"samples", kInt},
              {"load", kDouble}},
             true);
    describe(kDataLoss, "jdk.DataLoss", {start, {"amount", kLong}, {"total", kLong}}, true);
  }

  void describe(std::uint64_t id, const std::string& name, std::vector<Member> members,
                bool event = false) {
    types_.push_back({id, name, std::move(members), event});
  }

  [[nodiscard]] JfrValues values() const { return JfrValues(compressed_); }

  /// `value` begins after the key.
  JfrChunk& constant(std::uint64_t type, std::uint64_t key, const JfrValues& value) {
    pools_[type].emplace_back(key, value.out.bytes);
    return *this;
  }
  JfrChunk& symbol(std::uint64_t key, std::string_view text) {
    return constant(kSymbol, key, values().text(text));
  }
  /// A method of class `type` whose names are symbols.
  JfrChunk& method(std::uint64_t key, std::uint64_t type, std::uint64_t name,
                   std::uint64_t descriptor) {
    return constant(kMethod, key, values().number(type).number(name).number(descriptor));
  }
  /// A trace of frames (method, line), leaf first.
  JfrChunk& trace(std::uint64_t key,
                  const std::vector<std::pair<std::uint64_t, std::uint32_t>>& frames,
                  bool truncated = false) {
    JfrValues value = values();
    value.byte(truncated ? 1 : 0).count(frames.size());
    for (const auto& [method, line] : frames) {
      value.number(method).count(line).count(7).number(1);
    }
    return constant(kTrace, key, value);
  }
  JfrChunk& thread(std::uint64_t key, std::string_view os, std::uint64_t os_id,
                   std::string_view java, std::uint64_t java_id) {
    return constant(kThread, key, values().text(os).number(os_id).text(java).number(java_id));
  }
  JfrChunk& event(std::uint64_t type, const JfrValues& payload) {
    put_event(events_, type, payload.out.bytes);
    return *this;
  }

  /// The chunk. `finished`: its size is in its head.
  [[nodiscard]] std::vector<std::byte> bytes(bool finished = true, bool metadata = true) const {
    TestBytes body(bytes::ByteOrder::kBig);
    body.append(events_.bytes);
    put_event(body, 1, checkpoint());
    if (metadata) {
      put_event(body, 0, metadata_payload());
    }
    TestBytes file(bytes::ByteOrder::kBig);
    file.u32(0x464C5200).u16(2).u16(1).u64(finished ? 68 + body.bytes.size() : 0).u64(0).u64(0);
    file.u64(kStartNs).u64(0).u64(kStartTicks).u64(kTicksPerSecond).u32(compressed_ ? 1 : 0);
    return file.append(body.bytes).bytes;
  }

  static constexpr std::uint64_t kStartNs = 1'700'000'000'000'000'000;
  static constexpr std::uint64_t kStartTicks = 5'000;
  static constexpr std::uint64_t kTicksPerSecond = 1'000'000;  // a tick is 1,000 ns

 private:
  struct Described {
    std::uint64_t id;
    std::string name;
    std::vector<Member> members;
    bool event;
  };

  // The size of an event counts its own bytes.
  void put_event(TestBytes& into, std::uint64_t type, const std::vector<std::byte>& payload) const {
    JfrValues head = values();
    head.number(type);
    const std::size_t rest = head.out.bytes.size() + payload.size();
    JfrValues size = values();
    for (std::size_t own = 1;; ++own) {
      size = values();
      size.count(rest + own);
      if (size.out.bytes.size() <= own) {
        break;
      }
    }
    into.append(size.out.bytes).append(head.out.bytes).append(payload);
  }

  [[nodiscard]] std::vector<std::byte> checkpoint() const {
    JfrValues out = values();
    out.number(0).number(0).number(0).byte(1).count(pools_.size());
    for (const auto& [type, rows] : pools_) {
      out.number(type).count(rows.size());
      for (const auto& [key, value] : rows) {
        out.number(key);
        out.out.append(value);
      }
    }
    return out.out.bytes;
  }

  [[nodiscard]] std::vector<std::byte> metadata_payload() const {
    std::vector<std::string> texts;
    const auto index = [&texts](const std::string& text) {
      for (std::size_t i = 0; i < texts.size(); ++i) {
        if (texts[i] == text) {
          return i;
        }
      }
      texts.push_back(text);
      return texts.size() - 1;
    };
    JfrValues tree = values();
    const auto element = [&](const std::string& kind,
                             const std::vector<std::pair<std::string, std::string>>& attributes,
                             std::size_t children) {
      tree.count(index(kind)).count(attributes.size());
      for (const auto& [key, value] : attributes) {
        tree.count(index(key)).count(index(value));
      }
      tree.count(children);
    };
    element("root", {}, 2);
    element("metadata", {}, types_.size());
    for (const Described& type : types_) {
      std::vector<std::pair<std::string, std::string>> attributes = {
          {"id", std::to_string(type.id)}, {"name", type.name}};
      if (type.event) {
        attributes.emplace_back("superType", "jdk.jfr.Event");
      }
      element("class", attributes, type.members.size());
      for (const Member& member : type.members) {
        attributes = {{"name", member.name}, {"class", std::to_string(member.type)}};
        if (member.constant) {
          attributes.emplace_back("constantPool", "true");
        }
        if (member.array) {
          attributes.emplace_back("dimension", "1");
        }
        element("field", attributes, 0);
      }
    }
    element("region", {{"locale", "en"}}, 0);
    JfrValues out = values();
    out.number(0).number(0).number(1).count(texts.size());
    for (const std::string& text : texts) {
      out.text(text);
    }
    return out.out.append(tree.out.bytes).bytes;
  }

  bool compressed_;
  std::vector<Described> types_;
  std::map<std::uint64_t, std::vector<std::pair<std::uint64_t, std::vector<std::byte>>>> pools_;
  TestBytes events_{bytes::ByteOrder::kBig};
};

}  // namespace stackpack::test
