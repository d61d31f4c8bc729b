#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What scripts/test tells at its end: on a project of its own, with a real cmake and ctest."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import unittest
from pathlib import Path

from program import SOURCE, Folder
from waiting import until

PROJECT = """cmake_minimum_required(VERSION 3.24)
project(small LANGUAGES NONE)
enable_testing()
add_test(NAME right COMMAND ${CMAKE_COMMAND} -E echo "  LEFT OUT: no root")
add_test(NAME wrong COMMAND ${CMAKE_COMMAND} -E cat ${CMAKE_SOURCE_DIR}/there)
add_test(NAME other COMMAND sh -c "exit 77")
set_tests_properties(other PROPERTIES SKIP_RETURN_CODE 77)
"""


class RunAll(Folder):
    def setUp(self):
        super().setUp()
        (self.folder / "tests").mkdir()
        shutil.copy(Path(__file__).with_name("run_all.py"), self.folder / "tests")
        (self.folder / "CMakeLists.txt").write_text(PROJECT)
        presets = [{"name": name, "generator": "Ninja", "binaryDir": f"${{sourceDir}}/build/{name}"}
                   for name in ("test", "asan", "tsan")]
        steps = [{"name": one["name"], "configurePreset": one["name"]} for one in presets]
        (self.folder / "CMakePresets.json").write_text(json.dumps(
            {"version": 3, "configurePresets": presets, "buildPresets": steps, "testPresets": steps}))
        self.record = self.folder / "kept/tests.jsonl"

    def run_all(self, which):
        return subprocess.run([sys.executable, self.folder / "tests/run_all.py", which, "3"],
                              env=dict(os.environ, IPOIB_TEST_RECORD=str(self.record)), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False)

    def test_what_failed_was_left_out_and_took_long_is_told_and_recorded(self):
        failed = self.run_all("--quick")
        self.assertEqual(failed.returncode, 1, failed.stdout)
        self.assertRegex(failed.stdout, r"\nleft out:\n  test: right: no root\n  test: other\n")
        self.assertRegex(failed.stdout, r"\nfailed:\n  test: wrong\n")
        self.assertRegex(failed.stdout, r"\npackages +0\.1 +0\.0\nbuild +\d+\.\d +\d+\.\d\ntests +\d+\.\d +\d+\.\d\nall ")
        (self.folder / "there").touch()
        passed = self.run_all("--fast")
        self.assertEqual(passed.returncode, 0, passed.stdout)
        self.assertNotIn("\nfailed:", passed.stdout)
        self.assertIn("failed in 1 of 2: test: wrong", passed.stdout)
        runs = [json.loads(line) for line in self.record.read_text().splitlines()]
        self.assertEqual([(one["what"], one["tests"], one["failed"]) for one in runs],
                         [("--quick", 3, ["test: wrong"]), ("--fast", 3, [])])

    def test_a_build_that_fails_ends_it_and_one_beside_the_tests_is_told(self):
        (self.folder / "there").touch()
        log = self.folder / "build/asan.log"
        project = PROJECT + "if(CMAKE_BINARY_DIR MATCHES asan)\n  message(FATAL_ERROR sanitized)\nendif()\n"
        (self.folder / "CMakeLists.txt").write_text(project)
        beside = self.run_all("all")
        self.assertEqual(beside.returncode, 1, beside.stdout)
        self.assertIn("sanitized", log.read_text())
        self.assertRegex(beside.stdout, r"(?s)sanitized.*\nfailed:\n  build with sanitizers\n")
        (self.folder / "CMakeLists.txt").write_text("message(FATAL_ERROR none)\n")
        first = self.run_all("--quick")
        self.assertEqual(first.returncode, 1, first.stdout)
        self.assertRegex(first.stdout, r"\nfailed:\n  build\n")

    def test_a_test_without_its_program_fails_and_so_do_none_at_all(self):
        (self.folder / "there").touch()
        (self.folder / "CMakeLists.txt").write_text(PROJECT + "add_test(NAME gone COMMAND ${CMAKE_SOURCE_DIR}/gone)\n")
        gone = self.run_all("--quick")
        self.assertEqual(gone.returncode, 1, gone.stdout)
        self.assertRegex(gone.stdout, r"\nfailed:\n  test: gone\n")
        (self.folder / "CMakeLists.txt").write_text(PROJECT.partition("add_test")[0])
        none = self.run_all("--quick")
        self.assertEqual(none.returncode, 1, none.stdout)
        self.assertRegex(none.stdout, r"\nfailed:\n  tests\n")

    def test_of_a_damaged_record_what_is_whole_stays(self):
        (self.folder / "there").touch()
        self.assertEqual(self.run_all("--quick").returncode, 0)
        whole = self.record.read_bytes()
        self.record.write_bytes(b'null\n17\n{}\n{"at": 1}\n\xff\n\n' + whole + whole[:20])
        run = self.run_all("--quick")
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertEqual(len(self.record.read_text().splitlines()), 2)

    def test_when_it_is_interrupted_nothing_of_it_goes_on(self):
        begun = self.folder / "begun"
        (self.folder / "CMakeLists.txt").write_text(PROJECT.partition("add_test")[0] + f"""
if(CMAKE_BINARY_DIR MATCHES "/$ENV{{LONG}}$")
  add_custom_target(long ALL COMMAND sh -c "echo $$ >> {begun} && exec sleep 1000" VERBATIM)
endif()
add_test(NAME long COMMAND sh -c "echo $$ >> {begun} && exec sleep 1000")
""")
        beside_tests, building = ("all", {"LONG": "asan"}, 2), ("--quick", {"LONG": "test"}, 1)
        for (which, environment, count), numbers in ((beside_tests, (signal.SIGHUP, signal.SIGTERM)),
                                                     (building, (signal.SIGINT,))):
            for number in numbers:
                with self.subTest(which, signal=number):
                    begun.write_text("")
                    shutil.rmtree(self.folder / "build", ignore_errors=True)
                    run = subprocess.Popen([sys.executable, self.folder / "tests/run_all.py", which, "3"],
                                           env=dict(os.environ, IPOIB_TEST_RECORD=str(self.record), **environment),
                                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                    self.addCleanup(run.kill)
                    until(lambda: begun.read_text().count("\n") == count, "begin of what is long", 60)
                    run.send_signal(number)
                    self.assertEqual(run.wait(timeout=60), 128 + number)
                    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in begun.read_text().split()),
                          "end of what was begun", 10)
                    self.assertFalse(self.record.exists())

    def test_a_record_that_nobody_can_write_is_no_failure(self):
        (self.folder / "there").touch()
        self.record.parent.write_text("a file")
        run = self.run_all("--quick")
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertIn("no record is kept", run.stdout)
        self.assertTrue(re.search(r"\nall +\d", run.stdout))


class Halves(unittest.TestCase):
    def test_neither_half_runs_hidden_cases(self):
        halves = re.findall(r'set\(cases "(.+)"\)', (SOURCE / "cmake/House.cmake").read_text())
        self.assertEqual(len(halves), 2)
        program = Path(os.environ["IPOIB_BUILD"]) / "conformance/ipoib_judges_test"

        def cases(which):
            return subprocess.run([program, which, "--list-tests"], capture_output=True, text=True, check=False).stdout

        self.assertIn("[.]", cases("[everywhere]"))
        for half in halves:
            self.assertIn("Judges:", cases(half))
            self.assertNotIn("[.]", cases(half))


if __name__ == "__main__":
    unittest.main()
