#include "support/decoder_check.h"

namespace stackpack::fuzz {

void lznt1(std::span<const std::byte> data) {
  check_decoder(data, etl::decode_lznt1, test::naive_lznt1);
}

}  // namespace stackpack::fuzz
