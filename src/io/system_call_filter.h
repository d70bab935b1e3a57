#pragma once

namespace stackpack::io {

/// Leaves this process the calls of the system that reading files, computing and answering take:
/// from now on it makes no file, program, process or connection, and opens files for reading only.
/// Other calls fail with EPERM. There is no way back.
/// False: the kernel refuses, or this is a machine for which there is no filter.
[[nodiscard]] bool allow_reading_only();

}  // namespace stackpack::io
