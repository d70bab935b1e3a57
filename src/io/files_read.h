#pragma once

#include <mutex>
#include <set>
#include <span>
#include <string>

#include "io/system_file.h"

namespace stackpack::io {

/// The files that a run has opened for reading. No output takes the place of one of them, whatever
/// else is allowed (check_output()).
///
/// A run lasts as long as the object, and is that of the thread that made it. What the thread opens
/// or reads in that time by byte_source.h or rooted_file.h is noted, so that nobody has to say it.
/// Runs may be inside each other: what the inner one reads the outer ones have read, too. A thread
/// that works for the run of another joins it.
/// Threads: any may note and ask.
class FilesRead {
 public:
  FilesRead();
  FilesRead(const FilesRead&) = delete;
  FilesRead& operator=(const FilesRead&) = delete;
  ~FilesRead();

  /// The innermost run of this thread; null when it has none.
  static FilesRead* current();

  /// Notes a file for the current run, if there is one. What is no regular file is left out: the
  /// same terminal may be read and written.
  static void note(const FileStatus& file);

  /// Notes files that will be read; "-": standard input. What is no file, or cannot be looked at,
  /// is left out.
  static void note_inputs(std::span<const std::string> inputs);

  /// A file of our own is about to be removed: another may get its identity.
  static void forget(const std::string& path);

  /// Whether the current run, or one that it is inside, has read the file.
  static bool contains(const FileIdentity& file);

  /// Makes `run` (or none) the current one of this thread for a while.
  class Joined {
   public:
    explicit Joined(FilesRead* run);
    Joined(const Joined&) = delete;
    Joined& operator=(const Joined&) = delete;
    ~Joined();

   private:
    FilesRead* before_;
  };

  /// While it lives, this thread reads to find out what a file is, and nothing of it goes into an
  /// output: such a file may be replaced.
  class LookOnly : Joined {
   public:
    LookOnly() : Joined(nullptr) {}
  };

 private:
  FilesRead* outer_;
  std::mutex mutex_;
  std::set<FileIdentity> files_;
};

}  // namespace stackpack::io
