#pragma once

#include "formats/etl/file/buffer_decoder.h"
#include "formats/etl/file/buffer_index.h"
#include "stackpack/result.h"

namespace stackpack::etl {

/// Decides how to order the buffers of processors whose sequence numbers contradict the order of
/// the file: by sequence number (a circular file that wrapped) or by file position (a damaged
/// number). The clocks of their first events are the witnesses; in doubt the numbers win.
///
/// Cost:   nothing for a file in order; a second reading of the processors in dispute.
/// Errors: kIo, kCancelled.
Status settle_buffer_order(BufferIndex& index, const BufferDecoder& decoder,
                           const capture::ReadControl& control, capture::LossCounters& losses);

}  // namespace stackpack::etl
