#!/usr/bin/env python3
"""Profiles of all images of a capture in one pass: each is that of the image alone, and what its branches add up to.

    all_images_test.py PROGRAM

The capture, its images and their sums are made here. Images are laid out in five ways; three have no build id, and one name.
"""
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
sys.dont_write_bytecode = True
import branch_capture  # noqa: E402

FORMATS = ("bolt-preaggregated", "autofdo", "llvm-profgen")
IMAGES, NAMELESS = 40, 3


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        root, capture, packed = folder / "root", folder / "perf.data", folder / "out.spk"
        images = branch_capture.images(IMAGES, NAMELESS)
        files = {image.key: image.write(root) for image in images}
        made = branch_capture.BranchCapture(images)
        made.write(capture, 1500)
        subprocess.run([program, "convert", "--quiet", capture, "-o", packed], check=True)
        for form in FORMATS:
            out = folder / form
            done = subprocess.run([program, "export", packed, "--format", form, "--all-images", out, "--sysroot", root],
                                  check=True, stderr=subprocess.PIPE, text=True)
            written = {}
            for line in done.stderr.splitlines():
                path, _, rest = line.removeprefix("stackpack: ").partition(": ")
                if str(out) in rest:
                    written[path] = pathlib.Path(rest.rpartition(": ")[2])
            assert len(written) == len(set(written.values())) == IMAGES, (form, len(written), done.stderr)
            for number, image in enumerate(images):
                text = written[image.path].read_text()
                assert sorted(text.splitlines()) == made.profile(image, form), (form, image.path)
                if number % 3 != 0:
                    continue
                alone = folder / "alone"
                subprocess.run([program, "export", packed, "--format", form, "--binary", files[image.key], "--image", image.path,
                                "-o", alone, "--force", "--quiet"], check=True)
                assert text == alone.read_text(), (form, image.path)
    print(f"{IMAGES} images, {len(FORMATS)} formats")


if __name__ == "__main__":
    main()
