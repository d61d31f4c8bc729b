#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What base/ does is done by hand nowhere else."""
import os
import re
import subprocess
import unittest
from pathlib import Path

TOP = Path(os.environ["IPOIB_SOURCE_DIR"]).resolve()

# The adapter of a Linux host needs nothing of the rest, and tests may make processes as they need them.
OWN = ("base/", "conformance/dut/linux/")
TESTS = re.compile(r"\.test\.cpp$|/test_|^tests/")
SAID = "a program complains by base/complain.hpp"
WRITTEN = "a file is written by base/atomic_file.hpp or output_path.hpp"
FOLDER = "a folder for output is made by base/output_path.hpp"
JSON = "JSON in lines is written by base/json_text.hpp"
PRINTED = "what is printed passes base/job_log.hpp"
# What must be there once: how it is written, and whether tests are free to do it themselves.
BY_HAND = {
    "a descriptor is closed by base/descriptor.hpp": (r"(?<![\w>])::close\(", False),
    "a pipe is made by base/descriptor.hpp": (r"\bpipe2?\((?!\))", False),
    "a process is started and waited for by base/child_process.hpp":
        (r"\bposix_spawnp?\(|\bwaitp?id\(|(?<!\w)::fork\(|\bexecv?[lpe]*\(", True),
    "a file is replaced by base/atomic_file.hpp": (r"(?<!\w)::rename(?:at2?)?\(", True),
    PRINTED: (r"\bfmt::print\(|\bstd::(?:cout|f?printf|f?puts|cerr)\b", True),
    SAID: (r"\bstd::cerr\b", True),
    FOLDER: (r"\bcreate_director(?:y|ies)\(|(?<!\w)::mkdirat\(", True),
    WRITTEN: (r"\bstd::(?:ofstream|fstream)\b|\bfopen\([^;]*\"[wa]|\bO_CREAT\b", True),
    "text becomes one line by base/one_line.hpp": (r"std::string (one_line|printable)\(", True),
    "JSON on a line is written by base/json_object.hpp": (r"\bdump\(-1", True),
    JSON: (r"\bdump\((?!-1|\))", True),
}
# What writes files by itself all the same, and why.
WRITES = {
    "bench/fwrite_records.cpp": "fwrite is what it measures",
    "captures/make.cpp": "makes the sample captures' expectations for a person who looks at the difference",
    "fuzz/seeds.cpp": "makes what fuzzers begin with, in the build folder",
    "lab/guest/fabric_control/fabric.cpp": "a guest of ours: the kernel's files, and OpenSM's, which is told afterwards",
}
# What prints by itself all the same, and why no words from outside are a line of it, or whose log it is not.
PRINTS = {
    "bench/forwarding.cpp": "numbers of its own",
    "bench/make_capture.cpp": "numbers of its own",
    "bench/pcap_count.cpp": "numbers of its own",
    "bench/many_ports.cpp": "numbers of its own",
    "captures/make.cpp": "run by a person who changes samples",
    "conformance/command/output.hpp": "where all commands print",
    "conformance/dut/linux/main.cpp": "an adapter, whose words go into evidence",
    "conformance/terminal/help.cpp": "help and version",
    "conformance/terminal/manual.cpp": "the manual and what bash needs",
    "conformance/terminal/terminal.cpp": "progress, for terminals only",
    "fuzz/fuzzer.hpp": "the claim that did not hold, as the source has it",
    "fuzz/seeds.cpp": "numbers of its own",
    "lab/guest/fabric_control/main.cpp": "speaks on the guest's console",
    "lab/guest/port/bridge.cpp": "speaks on the guest's console",
    "lab/guest/port/main.cpp": "speaks on the guest's console",
    "samples/library/judge_own_packets.cpp": "a sample for those who have the library alone",
    "traffic-gen/capture_sink.cpp": "a line for each packet, which passes it",
    "traffic-gen/main.cpp": "lists of its own",
}
DUMPS = {"conformance/documents/kill_matrix.cpp": "words of the suite's own, escaped by the command that writes them"}
PERMITTED = {WRITTEN: WRITES, FOLDER: WRITES, PRINTED: PRINTS, JSON: DUMPS}


class ByHand(unittest.TestCase):
    def test_each_is_done_in_one_place(self) -> None:
        files = subprocess.run(["git", "-C", TOP, "ls-files", "-co", "--exclude-standard", "*.cpp", "*.hpp"],
                               capture_output=True, text=True, check=True).stdout.split()
        files = [file for file in files if (TOP / file).exists()]
        self.assertGreater(len(files), 500)
        for rule, (written, tests_are_free) in BY_HAND.items():
            with self.subTest(rule):
                found, own = [], []
                permitted = PERMITTED.get(rule, {})
                idle = set() if rule == FOLDER else set(permitted)
                for file in files:
                    for match in re.finditer(written, (TOP / file).read_text()):
                        if file.startswith("base/"):
                            own.append(file)
                        idle.discard(file)
                        is_free = file.startswith(OWN) or file in permitted or (tests_are_free and TESTS.search(file))
                        if not is_free:
                            found.append(f"{file}: {match.group()}")
                self.assertEqual(found, [])
                self.assertTrue(own, "nothing is written like that even there: does this test still see it?")
                self.assertEqual(idle, set(), "these need no permission")


if __name__ == "__main__":
    unittest.main()
