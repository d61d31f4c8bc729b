# SPDX-License-Identifier: GPL-2.0-or-later
"""Bundles, made of files by hand."""
import hashlib
import io
import tarfile


def packed(path, files, is_summed=True):
    """Writes a bundle that holds these files, by name, with sums that fit them, or with those that are among them."""
    files = dict(files)
    if is_summed:
        files["SHA256SUMS"] = "".join(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n"
                                      for name in sorted(files) if name != "SHA256SUMS").encode()
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(files):
            info = tarfile.TarInfo(name)
            info.size = len(files[name])
            archive.addfile(info, io.BytesIO(files[name]))
    return path
