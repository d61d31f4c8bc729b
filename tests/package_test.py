#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian packages, made of this build and taken apart. `scripts/package --try` installs them in a clean tree."""
import fnmatch
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import hardening
from program import CAPTURES, SOURCE

BUILD = Path(os.environ["IPOIB_BUILD"])
MAINTAINER = "Ada Maintainer <ada@example.org>"
AS_MAINTAINER = {**os.environ, "DEBFULLNAME": "Ada Maintainer", "DEBEMAIL": "ada@example.org"}


class Packages(unittest.TestCase):
    def setUp(self):
        # Always the same: the lab keeps the module of each place that its source is at.
        self.tree = BUILD / "tests/package-tree"
        shutil.rmtree(self.tree, ignore_errors=True)
        self.addCleanup(shutil.rmtree, self.tree, ignore_errors=True)

    def test_the_packages_hold_what_runs(self):
        made = subprocess.run([SOURCE / "scripts/package", "--build", BUILD], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.PIPE, timeout=300, check=False, env=AS_MAINTAINER)
        self.assertEqual(made.returncode, 0, made.stderr)
        packages = {Path(package).name.partition("_")[0]: BUILD / "packages" / Path(package).name
                    for package in made.stdout.split()}
        self.assertTrue(packages)
        for package in packages.values():
            subprocess.run(["dpkg-deb", "-x", package, self.tree], check=True, timeout=60)
        if shutil.which("readelf"):
            programs = hardening.elf_files(self.tree)
            self.assertLessEqual({"ipoib-conform", "ipoib-gen", "ipoib-dut-linux"}, {path.name for path in programs})
            self.assertEqual({path.name: hardening.weaknesses(path) for path in programs}, {path.name: [] for path in programs})
        run = subprocess.run([self.tree / "usr/bin/ipoib-conform", "check", CAPTURES / "usual.pcap", "--quiet"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        for name in ("bin/ipoib-gen", "bin/ipoib-dut-linux", "share/man/man1/ipoib-conform.1", "share/man/man1/ipoib-gen.1",
                     "share/bash-completion/completions/ipoib-gen", "share/doc/ipoib-conformance/README.md",
                     "share/doc/ipoib-conformance/docs/running.md", "share/doc/ipoib-conformance/examples/captures/broken.pcap",
                     "share/doc/ipoib-conformance/examples/samples/c-node/ipoib_node.c",
                     "share/doc/ipoib-conformance/examples/samples/library/CMakeLists.txt", "lib/cmake/ipoib/ipoibConfig.cmake"):
            found = [*self.tree.glob(f"usr/{name}"), *self.tree.glob(f"usr/{name.replace('lib/', 'lib/*/')}")]
            self.assertTrue(found and found[0].is_file(), name)
        for program in (self.tree / "usr/bin").iterdir():
            self.assertTrue((self.tree / f"usr/share/man/man1/{program.name}.1").is_file(), program.name)
        fleet = subprocess.run([self.tree / "usr/bin/ipoib-fleet", "--help"], stdout=subprocess.PIPE, text=True, timeout=60,
                               check=True).stdout
        self.assertTrue(fleet.startswith("usage: ipoib-fleet "), fleet)
        for name, package in packages.items():
            papers = self.tree / "usr/share/doc" / name
            self.assertEqual((papers / "copyright").read_text(), (SOURCE / "packaging/copyright").read_text())
            changes = gzip.decompress((papers / "changelog.gz").read_bytes()).decode()
            self.assertTrue(changes.startswith("ipoib-conformance ("), changes)
            self.assertEqual(self.field(package, "Maintainer"), MAINTAINER)
            self.assertIn(f"\n -- {MAINTAINER}  ", changes)
            self.assertEqual(self.field(package, "Version"), re.search(r"\(([\d.]+)\)", changes)[1])
        self.they_are_the_same_when_made_again(packages)
        if (BUILD / "dissector/rfc4391.so").exists():
            self.assertEqual(len(list(self.tree.glob("usr/lib/*/wireshark/plugins/*/epan/rfc4391.so"))), 1)
        self.the_containerfile_names_them(packages.values())
        self.assertIn("libpcap0.8", self.depends(packages["ipoib-conformance"]))
        if (BUILD / "ipoib-lab-port").exists():
            self.the_lab_is_whole(packages["ipoib-conformance-lab"])

    def they_are_the_same_when_made_again(self, packages):
        first = {name: package.read_bytes() for name, package in packages.items()}
        subprocess.run([SOURCE / "scripts/package", "--build", BUILD], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       timeout=300, check=True, env=AS_MAINTAINER)
        self.assertEqual([name for name, package in packages.items() if package.read_bytes() != first[name]], [])

    @staticmethod
    def field(package, name):
        return subprocess.run(["dpkg-deb", "-f", package, name], stdout=subprocess.PIPE, text=True, timeout=60,
                              check=True).stdout.strip()

    def the_containerfile_names_them(self, packages):
        """What `scripts/package --container` builds; here only what would rot in silence."""
        text = (SOURCE / "Containerfile").read_text()
        version = re.search(r"project\([\w-]+ VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]
        self.assertEqual(set(re.findall(r"(?:image\.version=\"|--tag [\w-]+:)([\d.]+)", text)), {version})
        for pattern in re.findall(r"/packages/(\S+\.deb)", text):
            found = [path for path in packages if path.match(pattern)]
            self.assertEqual(len(found), 0 if "plugin" in pattern and not (BUILD / "dissector/rfc4391.so").exists() else 1)
        self.assertNotIn("ENTRYPOINT", text)

    @staticmethod
    def depends(package):
        fields = subprocess.run(["dpkg-deb", "-f", package, "Depends"], stdout=subprocess.PIPE, text=True, timeout=60,
                                check=True).stdout
        return re.findall(r"[a-z0-9][a-z0-9+.-]+(?= |,|$)", re.sub(r"\(.*?\)", "", fields))

    def the_lab_is_whole(self, package):
        depends = self.depends(package)
        setup = (SOURCE / "scripts/setup").read_text()
        compiler = {"12": "gcc-12", "13": "gcc-14"}.get(re.search(r'VERSION_ID="?(\d+)', Path("/etc/os-release").read_text())[1])
        # The installed lab has no `mutants`, which alone needs patch.
        needed = set(re.search(r'(?m)^lab="(.*)"$', setup)[1].split()) - {"patch"}
        self.assertLessEqual({*needed, "ipoib-conformance", "libelf1", compiler or "gcc"}, set(depends))
        for name in ("share/man/man1/ipoib-lab.1", "share/bash-completion/completions/ipoib-lab",
                     "share/doc/ipoib-conformance-lab/copyright"):
            self.assertTrue((self.tree / "usr" / name).is_file(), name)
        lab = self.tree / "usr/bin/ipoib-lab"
        files = sorted(self.tree.rglob("*"))
        environment = {**os.environ, "HOME": str(self.tree / "home")}
        for word in ("--version", "manual", "completion"):
            run = subprocess.run([lab, word], env=environment, stdout=subprocess.PIPE, text=True, timeout=60, check=True)
            self.assertIn("ipoib-lab", run.stdout.replace("\\", ""))
            self.assertNotIn("scripts/lab", run.stdout)
        # All that a guest is made of is in the package, but for what is fetched and built; nothing is written beside it.
        cache = self.tree / "home/.cache/ipoib-lab"
        cache.parent.mkdir(parents=True)
        (SOURCE / "build/lab").mkdir(parents=True, exist_ok=True)
        cache.symlink_to(SOURCE / "build/lab")
        if shutil.which("qemu-system-x86_64"):
            run = subprocess.run([lab, "build"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 timeout=600, check=False)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertTrue(all(Path(line).is_file() for line in run.stdout.splitlines()), run.stdout)
            run = subprocess.run([lab, "exec", "--hosts", "1", "--", "hostname"], env=environment, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=900, check=False)
            self.assertEqual((run.returncode, run.stdout), (0, "h1\n"), run.stderr)
        cache.unlink()
        shutil.rmtree(self.tree / "home")
        self.assertEqual(sorted(self.tree.rglob("*")), files)


@unittest.skipUnless(shutil.which("rpmbuild"), "rpmbuild is missing (package rpm)")
class Rpm(unittest.TestCase):
    def made(self, top):
        shutil.rmtree(top, ignore_errors=True)
        self.addCleanup(shutil.rmtree, top, ignore_errors=True)
        made = subprocess.run(["rpmbuild", "-bb", "--build-in-place", "--nodeps", "--define", f"_topdir {top}", "--define",
                               f"prebuilt {BUILD}", "packaging/ipoib-conformance.spec"], cwd=SOURCE, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False,
                              env=AS_MAINTAINER)
        self.assertEqual(made.returncode, 0, made.stdout[-3000:])
        return list(top.rglob("*.rpm"))

    def test_the_spec_makes_a_package_of_this_build(self):
        packages = self.made(BUILD / "tests/rpm")
        first = packages[0].read_bytes()
        packages = self.made(BUILD / "tests/rpm")
        self.assertEqual(packages[0].read_bytes() == first, True, "made again it is another")
        told = subprocess.run(["rpm", "-qp", "--qf", "%{PACKAGER}\n%{BUILDHOST}\n", "--changelog", packages[0]],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=60, check=True).stdout
        self.assertTrue(told.startswith(f"{MAINTAINER}\nlocalhost\n"), told)
        self.assertRegex(told, rf"(?m)^\* .* {MAINTAINER} - ")
        self.assertEqual([path.name.split("-0")[0] for path in packages], ["ipoib-conformance"])
        listed = subprocess.run(["rpm", "-qpl", packages[0]], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                timeout=60, check=True).stdout.splitlines()
        for name in ("bin/ipoib-conform", "bin/ipoib-gen", "bin/ipoib-dut-linux", "bin/ipoib-fleet"):
            self.assertIn(f"/usr/{name}", listed)
        version = re.search(r"project\([\w-]+ VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]
        self.assertIn(f"Version:        {version}\n", (SOURCE / "packaging/ipoib-conformance.spec").read_text())


class Maintainer(unittest.TestCase):
    """Whoever makes the packages: nobody else can be asked about them."""

    def test_it_is_found_out_as_debians_tools_do(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "packaging").mkdir()
            (folder / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.24)\nproject(p VERSION 1.2 LANGUAGES NONE)\n"
                                                   f"include({SOURCE}/cmake/Packages.cmake)\n"
                                                   "message(STATUS \"by ${CPACK_PACKAGE_CONTACT}.\")\n")
            for file in ("packaging/changelog.in", "LICENSE"):
                shutil.copy(SOURCE / file, folder / file)
            nobody = {key: value for key, value in os.environ.items() if key not in ("DEBFULLNAME", "DEBEMAIL")}
            nobody |= {"HOME": name, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
            git = {"GIT_CONFIG_COUNT": "2", "GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "Grace",
                   "GIT_CONFIG_KEY_1": "user.email", "GIT_CONFIG_VALUE_1": "grace@example.org"}
            debian = {"DEBFULLNAME": "Ada Maintainer", "DEBEMAIL": "ada@example.org"}
            for environment, options, expected in (
                    (nobody, (), r"\w[^ ]* <\w[^@ ]*@\w[^@ ]*>"), (nobody | git, (), "Grace <grace@example.org>"),
                    (nobody | git | debian, (), MAINTAINER),
                    (nobody | git, ("-DIPOIB_PACKAGED_BY=A Vendor <qa@example.com>",), "A Vendor <qa@example.com>")):
                made = subprocess.run(["cmake", "-S", folder, "-B", folder / "build", *options], env=environment, timeout=60,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
                self.assertEqual(made.returncode, 0, made.stdout)
                self.assertRegex(made.stdout, f"(?m)^-- by {expected}[.]$")
                self.assertNotIn("invalid", made.stdout)


class Papers(unittest.TestCase):
    """What packaging/ says of the sources."""

    def test_the_copyright_of_each_file_is_what_the_file_says(self):
        stanzas = (SOURCE / "packaging/copyright").read_text().split("\n\n")
        licences = []
        for stanza in stanzas:
            if files := re.search(r"^Files: ((?:.*\n)(?: .*\n)*)", stanza, re.MULTILINE):
                licences.append((files[1].split(), re.search(r"^License: (.*)$", stanza, re.MULTILINE)[1]))
        self.assertGreater(len(licences), 3)
        listed = subprocess.run(["git", "-C", SOURCE, "ls-files"], stdout=subprocess.PIPE, text=True, check=True).stdout
        count = 0
        for name in listed.splitlines():
            head = (SOURCE / name).read_bytes()[:2000] if (SOURCE / name).is_file() else b""
            said = re.search(rb"SPDX-License-Identifier: ([A-Za-z0-9. -]+?)(?: \*/)?\s*$", head, re.MULTILINE)
            if not said:
                continue
            count += 1
            # The last stanza that fits, as Debian reads it.
            stated = [licence for patterns, licence in licences if any(fnmatch.fnmatch(name, one) for one in patterns)][-1]
            self.assertEqual(set(stated.split(" or ")), set(said[1].decode().strip().split(" OR ")), name)
        self.assertGreater(count, 1000)
        for licence in {part for _, one in licences for part in one.split(" or ")}:
            self.assertTrue(any(stanza.startswith(f"License: {licence}\n") for stanza in stanzas), licence)

    def test_the_manual_pages_have_every_option(self):
        for page, command in (("fleet/ipoib-fleet.1", [SOURCE / "scripts/fleet", "--help"]),
                              ("conformance/dut/linux/ipoib-dut-linux.1", [BUILD / "ipoib-dut-linux", "--help"])):
            text = (SOURCE / page).read_text().replace("\\-", "-")
            shown = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=60, check=True).stdout
            options = set(re.findall(r"(?<![\w=-])--[a-z][a-z-]*", shown)) - {"--account", "--exclusive", "--host-state"}
            self.assertEqual([one for one in sorted(options) if one not in text], [], page)
            checked = subprocess.run(["man", "--warnings", "-l", SOURCE / page], stdout=subprocess.DEVNULL,
                                     stderr=subprocess.PIPE, text=True, timeout=60, check=True)
            self.assertEqual(checked.stderr, "")


if __name__ == "__main__":
    if not shutil.which("dpkg-shlibdeps"):
        print("dpkg-dev is missing")
        sys.exit(77)
    unittest.main()
