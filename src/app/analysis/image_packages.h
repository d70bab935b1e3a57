// Which package of a distribution an image came with.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "stackpack/model.h"

namespace stackpack::app {

/// Packages of images by their paths: as dpkg of this machine lists the files of what is installed,
/// or as the path says (/snap/NAME, /nix/store, /gnu/store). Nothing is known of the image itself:
/// a capture of another machine is answered as if its paths were here.
class ImagePackages {
 public:
  /// Reads the lists of dpkg ($DPKG_ADMINDIR, /var/lib/dpkg), once, for these images. Lists that
  /// cannot be read say nothing. Memory: a text for each image.
  explicit ImagePackages(std::span<const Module> modules);

  /// `libc6`, `firefox (snap)`, `hello-2.12 (nix)`; empty: not known.
  [[nodiscard]] std::string_view of(const Module& module) const;

 private:
  void read_list(const std::string& path, const std::string& package);

  std::map<std::string, std::string, std::less<>> packages_;  // by path; empty: none so far
};

}  // namespace stackpack::app
