#include "export/html/page_findings.h"

#include <limits>

#include <doctest/doctest.h>

#include "bytes/byte_cursor.h"

using namespace stackpack;
using exporting::PageFigure;
using exporting::PageFindings;

namespace {

using Numbers = std::vector<std::uint32_t>;

PageFigure figure(std::uint64_t value, double low) {
  return {1, value, value + 1, low, std::numeric_limits<double>::infinity(), 0};
}

std::vector<std::byte> bytes_of(const PageFindings& findings, const Numbers& order) {
  const auto writer = findings.encode(order);
  return {writer.bytes().begin(), writer.bytes().end()};
}

}  // namespace

TEST_CASE("findings of a page: each figure is kept once, bounds have four digits") {
  PageFindings findings(3);
  findings.set(2, figure(7, 1e-200), figure(300, -0.123456));
  findings.set(0, figure(300, -0.123456), figure(300, -0.123456));
  const auto written = bytes_of(findings, {2, 1, 0});
  bytes::ByteCursor cursor(written, 0, bytes::ByteOrder::kLittle);
  CHECK(cursor.read_varint() == 2);
  const auto column = [&cursor] {
    const auto part = cursor.read_bytes(cursor.read_varint());
    std::vector<std::uint64_t> values;
    bytes::ByteCursor inner(part, 0, bytes::ByteOrder::kLittle);
    while (inner.remaining() != 0) {
      values.push_back(inner.read_varint());
    }
    return values;
  };
  using Values = std::vector<std::uint64_t>;
  CHECK(column() == Values{1, 1});    // verdicts
  CHECK(column() == Values{300, 7});  // the one that is used thrice first
  CHECK(column() == Values{301, 8});
  CHECK(column() == Values{bytes::zigzag_encode(-1235), 0});  // -0.1235; what is tiny is 0
  CHECK(column() == Values{64 - 4, 64});
  CHECK(column() == Values{0, 0});
  CHECK(cursor.read_varint() == 2);  // exponents of what is not finite take all bits of a byte
  CHECK(cursor.read<std::uint8_t>() == 191);
  CHECK(cursor.read<std::uint8_t>() == 191);
  CHECK(column() == Values{0, 0});
  CHECK(column() == Values{64, 64});
  CHECK(column() == Values{2, 0, 1});  // self, by place of the function; 0: not compared
  CHECK(column() == Values{1, 0, 1});
  CHECK(cursor.remaining() == 0);
}

TEST_CASE("findings of a page: the bytes do not depend on the order in which figures came") {
  PageFindings one(2);
  one.set(0, figure(1, 0.5), figure(2, 0.25));
  one.set(1, figure(3, 0.5), figure(2, 0.5));
  PageFindings other(2);
  other.set(0, figure(3, 0.5), figure(2, 0.5));
  other.set(1, figure(1, 0.5), figure(2, 0.25));
  CHECK(bytes_of(one, {0, 1}) == bytes_of(other, {1, 0}));
}
