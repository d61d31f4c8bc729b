# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands of scripts/lab."""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import blocks
import dhcp
import dhcp_report
import exec_command
import image
import kernel
import kernels
import manual
import matrix
import mutant_judge
import mutant_report
import mutants
import package_set
import packages
import parts
import place
import report
import told
from attach import attach
from building import adapter_parameters, build_programs, guest_for, kernel_for, pristine_source, told_modules
from machine import QEMU, Guest, Machine, State
from options import (LAB_FAILED, RunOptions, kernel_of, parse, parser, is_among, refuse_unknown,
                     split_explore_arguments, split_fuzz_arguments, split_run_arguments, value_of)
from place import COMMAND, SOURCE
from private_folder import PrivateFolder
from supervisor import Interrupted, ending_on_signals, run_beside
from terminal import Recorder
from tools import LabError, UsageError, locked, need_program, run, say, without_commands, write_whole

_TEST_LIMIT = 600.0  # s
_USUAL_TRAFFIC = "net_up && pings 10.1.0.2"
_LONGEST_COMMAND = 1000  # octets; the kernel's command line has 2048
_EXIT_ERROR, _EXIT_USAGE = 3, 2
_SHARE_OF_A_GUEST = 0.3  # of a processor, while cases run: measured
_SCALE_OF_FUZZ = "3"  # 30 s for a request, more than the 20 s after which the guest's kernel calls a task hung
_SM_KEY = 1  # OpenSM's sm_key, unless its configuration says otherwise


def _attach_command(folder: Path, port: str, *options: str) -> str:
    return shlex.join([str(SOURCE / "scripts/lab"), "attach", str(folder), port, *options])


def _fabric_of_guest(path: Path) -> list[str]:
    """The words that make a guest's fabric that of ipoib-conform."""
    fabric = f"socket:{path / 'raw0'},{path / 'raw1'},tap={path / 'tap'},sm-key={_SM_KEY},name=lab"
    return ["--fabric", fabric, "--fabric-control", _attach_command(path, "control")]


def _called_as(options: argparse.Namespace, wanted: RunOptions) -> str:
    """What repeats a run of one case, but for seed and evidence."""
    words = [COMMAND, "run"]
    for name, usual in (("fabric", "lab"), ("scenario", "default"), ("role", "host"), ("kernel", None),
                        ("ipoib", None), ("modules", None), ("dhcp-client", None), ("dhcp-server", None)):
        value = getattr(options, name.replace("-", "_"))
        if value != usual:
            words += [f"--{name}", str(value)]
    words += [f"--{name}" for name in ("enhanced", "block-loopback") if getattr(options, name.replace("-", "_"))]
    for option in ("--timeout-scale", "--tester-ip", "--profile"):
        if option in wanted.arguments[:-1]:
            words += [option, wanted.arguments[wanted.arguments.index(option) + 1]]
    return shlex.join(words)


def _reported_as(*more: str) -> list[str]:
    """For what writes reports: they name what the user called, and none of what is between."""
    return [f"--reported-as={word}" for word in (COMMAND, *sys.argv[1:], *more)]


def _guest_for(options: argparse.Namespace, wanted: RunOptions) -> Guest:
    if options.role == "connected" and adapter_parameters(options):
        raise UsageError("--role connected: enhanced adapters have no connected mode")
    parameters = {"role": options.role}
    is_uplink = wanted.fabric != "lab"
    parameters |= {"mode": "uplink", "hcas": "1", "raws": "1"} if is_uplink else {"hcas": "2", "raws": "2"}
    if wanted.scenario in ("mtu4k", "link4k"):
        parameters["mtu"] = "5" if is_uplink else "5,5"
    return guest_for(options, parameters)


def _judge(options: argparse.Namespace, wanted: RunOptions, extra: Sequence[str] = ()) -> int:
    """One run of ipoib-conform beside a guest, or beside as many guests as --jobs says."""
    conform = image.find_program(options.programs, "ipoib-conform")
    if conform is not None:
        refuse_unknown(conform, "run", wanted.arguments)
    words = [*wanted.arguments, *extra]
    of_part, of_report = parts.split_words(words) if options.jobs > 1 else (words, [])
    scale = options.jobs * _SHARE_OF_A_GUEST / (os.cpu_count() or 1)
    if scale > 1 and not any(re.match(r"--timeout-scale(=|$)", word) for word in words):
        of_part += ["--timeout-scale", f"{scale:.2g}"]
    guest = replace(_guest_for(options, wanted), beside=options.jobs)
    conform = conform or image.find_program(options.programs, "ipoib-conform")
    assert conform is not None
    if options.jobs == 1:
        return _judge_beside(options, guest, conform, wanted, [*words, *_reported_as()])
    with PrivateFolder() as folder:
        files = [folder.path / f"{number}-of-{options.jobs}.json" for number in range(1, options.jobs + 1)]

        def judge_part(number: int) -> int:
            shard = ["--shard", f"{number}/{options.jobs}"]
            shard += [*_reported_as(*shard), "--json", str(files[number - 1])]
            with open(os.devnull, "wb") as nowhere, ending_on_signals():
                os.dup2(nowhere.fileno(), sys.stdout.fileno())
                return _judge_beside(options, guest, conform, wanted, [*of_part, *shard, "--quiet"])

        codes = parts.run_parts(options.jobs, judge_part)
        if _EXIT_USAGE in codes:
            return _EXIT_USAGE
        return parts.merge(conform, files, folder.path, [*of_report, *_reported_as()])


def _judge_beside(options: argparse.Namespace, guest: Guest, conform: Path, wanted: RunOptions,
                  words: Sequence[str]) -> int:
    """The exit code of ipoib-conform run with these words."""
    is_uplink = wanted.fabric != "lab"

    def command(path: Path) -> list[str]:
        words_of_run = [str(conform), "run", *words, "--scenario", wanted.scenario,
                        "--called-as", _called_as(options, wanted)]
        if is_uplink:
            words_of_run += ["--fabric", wanted.fabric, "--listen", str(path / "uplink")]
        else:
            words_of_run += _fabric_of_guest(path)
        if not any(re.match(r"--dut(=|$)", word) for word in wanted.arguments):
            words_of_run += ["--dut", f"exec:{_attach_command(path, 'agent')}"]
        return words_of_run

    def keep_blocks(path: Path) -> None:
        write_whole(options.blocks, "".join(f"{block}\n" for block in sorted(told.ask(path))))

    return _beside(options, guest, is_uplink, command, keep_blocks if getattr(options, "blocks", None) else None)


def _beside(options: argparse.Namespace, guest: Guest, is_uplink: bool, command_for: Callable[[Path], list[str]],
            at_end: Callable[[Path], None] | None = None) -> int:
    """The exit code of a command beside a guest, which is told where the guest's folder is; then something else is done
    with a guest that still lives."""
    with PrivateFolder(options.keep) as folder:
        path = folder.path
        if options.keep:
            say(f"consoles and sockets are in {path}")
        if is_uplink:
            guest = Guest(**{**guest.__dict__, "uplink": path / "uplink"})
        machine = Machine(guest, path)
        try:
            machine.start()
            try:
                machine.wait_ready()
                say(f"the guest was ready after {machine.ready_after:.1f} s")
                machine.keep_state()
            except LabError as problem:
                # The reports are still to say that every case is an ERROR.
                say(str(problem))
                machine.kill()
            command = command_for(path)
            if machine.state is State.READY:
                code = run_beside(machine, command)
                if at_end is not None and machine.poll() is State.READY:
                    at_end(path)
                return code
            return subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode
        finally:
            machine.kill()


def _run(options: argparse.Namespace, rest: Sequence[str]) -> int:
    options.tells_blocks = options.blocks is not None
    if options.tells_blocks and options.jobs > 1:
        raise UsageError("--blocks is for one guest, without --jobs")
    return _judge(options, split_run_arguments(rest, options))


def _explore(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """ipoib-conform explore beside a guest: its adapter is a node of the simulated fabric, or it has the administrator."""
    wanted = split_explore_arguments(rest, options)
    conform = image.find_program(options.programs, "ipoib-conform")
    if conform is not None:
        refuse_unknown(conform, "explore", wanted.arguments)
    guest = _guest_for(options, wanted)
    conform = conform or image.find_program(options.programs, "ipoib-conform")
    assert conform is not None

    is_uplink = wanted.fabric != "lab"

    def command(path: Path) -> list[str]:
        words = [str(conform), "explore", *wanted.arguments]
        if is_uplink:
            return [*words, "--scenario", wanted.scenario, "--listen", str(path / "uplink"),
                    "--dut", f"exec:{_attach_command(path, 'agent')}"]
        return [*words, *_fabric_of_guest(path), "--allow", "fabric"]

    return _beside(options, guest, is_uplink, command)


def _plant(options: argparse.Namespace) -> None:
    """The driver is one with a fault of lab/planted."""
    if options.modules is not None or options.ipoib is not None:
        raise UsageError("--planted has a driver of its own, without --modules and --ipoib")
    one, = mutants.chosen(mutants.load(SOURCE / "lab/planted"), [options.planted])
    build = options.build.resolve()
    with locked(build):
        pristine = pristine_source(options, kernel_for(options, build), build)
    options.modules, options.role = build / "planted" / one.name, one.setting.role
    with locked(build / "planted"):
        mutants.apply(one, pristine, options.modules)
        _mend_crash(options.modules)


def _mend_crash(folder: Path) -> None:
    """Of a copy of drivers/infiniband: the crash that is known, which would hide what else there is."""
    run(["patch", "--batch", "--forward", "-p3", "-d", folder, "-i", SOURCE / "docs/linux-connected-mode-crash.patch"],
        "mending the crash of connected mode")


def _mend(options: argparse.Namespace) -> None:
    if options.modules is not None or options.ipoib is not None:
        raise UsageError("--mended has a driver of its own, without --modules and --ipoib")
    build = options.build.resolve()
    folder = build / "planted/none"
    with locked(build):
        pristine = pristine_source(options, kernel_for(options, build), build)
    with locked(build / "planted"):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(pristine / "ulp/ipoib", folder / "ulp/ipoib")
        _mend_crash(folder)
    options.ipoib = folder / "ulp/ipoib"


def _fuzz(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """ipoib-conform fuzz beside a guest whose driver tells which of its code ran. A session is repeated on the driver as it
    is."""
    arguments = split_fuzz_arguments(rest)
    conform = image.find_program(options.programs, "ipoib-conform")
    if conform is not None:
        refuse_unknown(conform, "fuzz", arguments)
    # Before a guest boots for nothing.
    if (session := value_of("--replay", arguments)) is not None and not Path(session).is_file():
        raise UsageError(f"--replay: there is no file {session}")
    options.tells_blocks = not options.plain and not is_among("--replay", arguments)
    if getattr(options, "planted", None) is not None:
        _plant(options)
    elif getattr(options, "mended", False):
        _mend(options)
    guest = guest_for(options, {"mode": "uplink", "hcas": "1", "raws": "1", "role": options.role, "fuzz": "1"})
    guest = replace(guest, keeps_state=True)
    conform = conform or image.find_program(options.programs, "ipoib-conform")
    assert conform is not None

    if not is_among("--timeout-scale", arguments):
        arguments += ["--timeout-scale", _SCALE_OF_FUZZ]

    def command(path: Path) -> list[str]:
        # A new node is a new kernel: what a session has left in one would be found in whatever is played next.
        return [str(conform), "fuzz", *arguments, "--listen", str(path / "uplink"),
                "--dut", f"exec:{_attach_command(path, 'agent', '--anew')}"]

    code = _beside(options, guest, True, command)
    told = value_of("--coverage", arguments)
    if options.tells_blocks and told and Path(told).is_file():
        modules = {name: Path(guest.symbols[name]) for name in ("ib_core", "ib_cm", "ib_ipoib")}
        print(blocks.table(blocks.coverage(modules, blocks.FILES, Path(told).read_text(encoding="utf-8").split())), end="")
    return code


def _coverage(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """What the suite and the fuzzer reach, out of the files that run --blocks and fuzz --coverage have left."""
    _no_more(rest)
    suite, fuzz = told.read(options.suite), told.read(options.fuzz)
    build = options.build.resolve()
    with locked(build):
        one = kernel_for(options, build)
        modules = told_modules(options, one, build)
    write_whole(options.output, told.page(told.rows(modules, suite, fuzz), one.release, options.note))
    say(f"the page is {options.output}")
    return 0


def _adapter(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """A guest as long as there is somebody who steers it."""
    _no_more(rest)
    guest = guest_for(options, {"mode": "uplink", "hcas": "1", "raws": "1", "role": options.role})
    with PrivateFolder(options.keep) as folder:
        machine = Machine(replace(guest, uplink=options.port.absolute()), folder.path)
        try:
            machine.start()
            machine.wait_ready()
            say(f"the guest was ready after {machine.ready_after:.1f} s")
            return attach(folder.path, "agent")
        finally:
            machine.kill()


def _report(options: argparse.Namespace, rest: Sequence[str]) -> int:
    baseline = SOURCE / "lab/linux.baseline.toml"
    runs, worst = [], 0
    for kind in report.KINDS:
        one = argparse.Namespace(**{**vars(options), "role": kind.role, "fabric": kind.fabric,
                                    "scenario": kind.scenario, "dhcp_client": kind.dhcp_client,
                                    "dhcp_server": kind.dhcp_server, "enhanced": kind.is_enhanced or options.enhanced})
        folder = options.build.resolve() / "report" / kind.name.replace(" ", "-")
        ended = folder / "ended"
        if options.resume and ended.is_file():
            say(f"run \"{kind.name}\" has ended before")
            worst = max(worst, int(ended.read_text()), key=report.EXIT_CODES.index)
            runs.append(report.Run.load(kind.name, folder / "results.json"))
            continue
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        say(f"run \"{kind.name}\"")
        code = _judge(one, split_run_arguments(rest, one),
                      ["--json", str(folder / "results.json"), "--evidence", str(folder / "evidence"),
                       "--expect", str(baseline), "--quiet"])
        if not (folder / "results.json").is_file():
            say(f"run \"{kind.name}\" has left no results")
            return code or _EXIT_ERROR
        if code != _EXIT_ERROR:
            ended.write_text(str(code))
        worst = max(worst, code, key=report.EXIT_CODES.index)
        runs.append(report.Run.load(kind.name, folder / "results.json"))
    conform = image.find_program(options.programs, "ipoib-conform")
    assert conform is not None
    write_whole(options.output, report.markdown(runs, baseline, conform))
    say(f"the report is {options.output}")
    return worst


def _matrix(options: argparse.Namespace, rest: Sequence[str]) -> int:
    if options.kernel is not None:
        raise UsageError("matrix judges those of --kernels")
    of_runs, of_report = matrix.split_words([*rest, *options.words])
    folder = options.build.resolve() / "matrix"

    def judge(name: str, kind: report.Kind, file: Path) -> int:
        one = argparse.Namespace(**{**vars(options), "kernel": name, "role": kind.role, "fabric": kind.fabric,
                                    "scenario": kind.scenario, "enhanced": kind.is_enhanced or options.enhanced})
        return _judge(one, split_run_arguments(of_runs, one),
                      ["--json", str(file), "--evidence", str(file.with_name("evidence")), "--quiet"])

    # Two would write to the same folders.
    with locked(folder):
        matrix.judge_all(folder, options.kernels, options.runs, judge)
        conform = image.find_program(options.programs, "ipoib-conform")
        if conform is None:
            raise LabError("there is no ipoib-conform to merge the results")
        write_whole(options.output or folder / "matrix.md", matrix.page(folder, options.kernels, options.runs))
        say(f"what differs is in {options.output or folder / 'matrix.md'}")
        return matrix.merge(conform, folder, options.kernels, options.runs, [*of_report, *_reported_as()])


def _dhcp(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Each of Debian's DHCP programs is judged, and all of them are written up."""
    _no_more(rest)
    if options.pairs:
        unknown = [pair for pair in options.pairs if pair not in dhcp_report.PAIRS]
        if unknown:
            raise UsageError(f"there is no pair {','.join(unknown[0])}; there are "
                             + " ".join(",".join(pair) for pair in dhcp_report.PAIRS))
    options.jobs, every, build = 1, [], options.build.resolve()
    for pair in options.pairs or dhcp_report.PAIRS:
        client, server = pair
        one = argparse.Namespace(**{**vars(options), "dhcp_client": client or None, "dhcp_server": server or None})
        folder = build / "dhcp" / f"{client or 'none'}-{server}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        say(f"client {client or 'none'}, server {server}")
        code = _judge(one, split_run_arguments(["rfc4390"], one),
                      ["--json", str(folder / "results.json"), "--evidence", str(folder / "evidence"), "--quiet"])
        if not (folder / "results.json").is_file():
            raise LabError(f"no results, exit code {code}")
        conform = image.find_program(options.programs, "ipoib-conform")
        assert conform is not None
        results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
        every += dhcp_report.judged(pair, folder, results, dhcp.versions(build), conform)
    write_whole(options.output, dhcp_report.markdown(every))
    say(f"the report is {options.output}")
    return 0


def _mutants(options: argparse.Namespace, rest: Sequence[str]) -> int:
    _no_more(rest)
    every = mutants.load(SOURCE / "lab/mutants")
    some = mutants.chosen(every, options.names)
    build_programs(options.programs)
    build = options.build.resolve()
    with locked(build):
        one = kernel_for(options, build)
        pristine = pristine_source(options, one, build)
    conform, baseline = image.find_program(options.programs, "ipoib-conform"), SOURCE / "lab/linux.baseline.toml"
    assert conform is not None
    suite = mutants.key_of(one.release, conform.read_bytes(), baseline.read_bytes())
    state = mutants.State(build / "mutants/state")
    guest = [*(["--memory", str(options.memory)] if options.memory else []), "--boot-limit", str(options.boot_limit),
             *(["--kernel", options.kernel] if options.kernel else []), *(["--kvm"] if options.kvm else [])]
    laboratory = mutant_judge.Laboratory(options.programs, build, pristine, baseline, state, guest, suite)
    # Two would build in the same folders.
    with locked(build / "mutants"):
        try:
            mutant_judge.judge_all(laboratory, some, options.jobs)
        finally:
            verdicts = [(mutant, mutant_judge.verdict_on(laboratory, mutant)) for mutant in every]
            write_whole(options.output, mutant_report.markdown(verdicts, one.release))
            say(f"the report is {options.output}")
    return 0


def _variant(options: argparse.Namespace, text: str) -> argparse.Namespace:
    """`default`, `enhanced`, `kernel:NAME`, `kernel:TREE`, `ipoib:DIR` or `modules:DIR`, on top of what the options say."""
    one = argparse.Namespace(**vars(options))
    kind, _, value = text.partition(":")
    if kind in {"kernel", "ipoib", "modules"} and value:
        setattr(one, kind, kernel_of(value) if kind == "kernel" else Path(value))
    elif text == "enhanced":
        one.enhanced = True
    elif text != "default":
        raise UsageError(f"{text} is neither default, enhanced, kernel:NAME, kernel:TREE, ipoib:DIR nor modules:DIR")
    return one


def _compare(options: argparse.Namespace, rest: Sequence[str]) -> int:
    wanted = split_run_arguments(rest, options)
    if any(re.match(r"--json(=|$)", word) for word in rest):
        raise UsageError("compare writes the results by itself, to compare/base.json and new.json in the build folder")
    variants = {"base": _variant(options, options.base), "new": _variant(options, options.new)}
    folder = options.build.resolve() / "compare"
    folder.mkdir(parents=True, exist_ok=True)
    files = {name: folder / f"{name}.json" for name in variants}
    for name, one in variants.items():
        files[name].unlink(missing_ok=True)
        say(f"{name}: {getattr(options, name)}")
        code = _judge(one, wanted, ["--json", str(files[name])])
        if not files[name].is_file():
            say(f"{name} has left no results")
            return code or _EXIT_ERROR
    conform = image.find_program(options.programs, "ipoib-conform")
    return subprocess.run([str(conform), "diff", str(files["base"]), str(files["new"])], check=False).returncode


def test_names() -> list[str]:
    return sorted(p.stem for p in (SOURCE / "lab/guest/tests").glob("*.sh") if p.stem != "common")


def test_parameters(script: str) -> dict[str, str]:
    """A test may ask for a guest of its own kind: `# lab: mtu=5,5`."""
    match = re.search(r"^# lab: (.*)$", script, re.MULTILINE)
    return dict(word.split("=", 1) for word in match.group(1).split()) if match else {}


def keep_file(folder: Path, line: str) -> None:
    """What a test in the guest has written: LAB-FILE NAME, and the file, compressed, in base64."""
    match = re.fullmatch(r"LAB-FILE ([a-z0-9_.-]+) ([A-Za-z0-9+/=]+)", line)
    if match is None or match.group(1).startswith("."):
        raise LabError("the guest's file has no name, or no content")
    try:
        content = gzip.decompress(base64.b64decode(match.group(2)))
    except (ValueError, OSError, EOFError) as problem:
        raise LabError(f"the guest's {match.group(1)} came in pieces: {problem}") from problem
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / match.group(1), content)


def _test_one(guest: Guest, name: str, keep: bool, files: Path) -> bool:
    results: list[str] = []
    with PrivateFolder(keep) as folder:
        machine = Machine(guest, folder.path)

        def show(line: str) -> None:
            if line.startswith(f"LAB-TEST {name} rc="):
                results.append(line.rpartition("=")[2].strip())
            elif line.startswith("LAB-FILE "):
                keep_file(files, line.strip())
            elif machine.state is State.READY and not re.match(r"\[ *\d+\.\d+\]", line):
                print(without_commands(f"  {line}"), flush=True)

        machine.on_line = show
        try:
            machine.start()
            machine.wait_ready()
            machine.wait_end(_TEST_LIMIT)
        finally:
            machine.kill()
        if not results:
            say(machine.death())
    return results == ["0"]


def _test(options: argparse.Namespace, rest: Sequence[str]) -> int:
    _no_more(rest)
    known = test_names()
    names = known if options.names == ["all"] else options.names
    for name in names:
        if name not in known:
            raise UsageError(f"there is no test {name}; there are {', '.join(known)}")
    guest = guest_for(options, {})
    failed = []
    for name in names:
        script = (SOURCE / f"lab/guest/tests/{name}.sh").read_text(encoding="utf-8")
        parameters = {"hcas": "2", "raws": "2", "test": name, **adapter_parameters(options), **test_parameters(script)}
        begun = time.monotonic()
        try:
            is_good = _test_one(Guest(**{**guest.__dict__, "parameters": parameters}), name, options.keep,
                                options.build.resolve() / "tests" / name)
        except LabError as problem:
            say(str(problem))
            is_good = False
        print(f"{'PASS' if is_good else 'FAIL'}  {name}  {time.monotonic() - begun:.1f} s", flush=True)
        failed += [] if is_good else [name]
    print(f"{len(names) - len(failed)} of {len(names)} passed" + (f"; failed: {', '.join(failed)}" if failed else ""))
    return 1 if failed else 0


def _exec(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """What is wrong of the lab must not look like what is wrong of the command."""
    try:
        _no_more(rest)
        return {"exec": exec_command.execute, "shell": exec_command.shell, "port": exec_command.port}[options.command](options)
    except BrokenPipeError:
        # As a program ends of it that does not expect it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except (LabError, OSError) as problem:
        say(str(problem))
        return LAB_FAILED


def _capture(options: argparse.Namespace, rest: Sequence[str]) -> int:
    _no_more(rest)
    traffic = " ".join(options.words) or _USUAL_TRAFFIC
    if len(traffic.encode()) > _LONGEST_COMMAND:
        raise UsageError(f"the command has more than {_LONGEST_COMMAND} octets")
    encoded = base64.b64encode(traffic.encode()).decode()
    guest = guest_for(options, {"hcas": "2", "raws": "2", "command": encoded})
    codes: list[str] = []
    with PrivateFolder(options.keep) as folder:
        machine = Machine(guest, folder.path)

        def show(line: str) -> None:
            if line.startswith("LAB-COMMAND rc="):
                codes.append(line.rpartition("=")[2].strip())
            elif machine.state is State.READY and not re.match(r"\[ *\d+\.\d+\]", line):
                print(without_commands(line), flush=True)

        machine.on_line = show
        try:
            machine.start()
            with Recorder(machine, options.file) as recorder:
                has_ended = recorder.record(options.seconds)
        finally:
            machine.kill()
        if has_ended and not codes:
            raise LabError(machine.death())
        say(f"{recorder.octets} octets in {options.file}")
    return int(codes[0]) if codes else 0


def _no_more(rest: Sequence[str]) -> None:
    if rest:
        raise UsageError(f"what is {rest[0]}? --help tells what there is")


def _main(arguments: Sequence[str]) -> int:
    options, rest = parse(arguments)
    if options.command == "attach":
        return attach(options.folder, options.port, options.anew)
    if options.command == "manual":
        print(manual.page(parser(), place.version()), end="")
        return 0
    if options.command == "completion":
        print(manual.completion(parser()), end="")
        return 0
    if options.command == "setup":
        return subprocess.run([str(SOURCE / "scripts/setup"), "lab"], check=False).returncode
    if options.command == "packages":
        _no_more(rest)
        build = options.build.resolve()
        with locked(build):
            folder = build / "packages"
            root = packages.prepare(folder, refresh=True)
            say(f"the kernel is {kernel.debian_kernel(root, build).release}")
            for name, root in kernels.refresh(folder):
                say(f"{name} is {kernel.debian_kernel(root, build).release}")
            package_set.forget(build)
        return 0
    if options.command in kernels.SOURCES:
        _no_more(rest)
        build = options.build.resolve()
        with locked(build):
            kernels.unpack_source(build / "packages", options.folder.resolve(), options.kernel,
                                  kernels.SOURCES[options.command])
        return 0
    if options.command == "kernels":
        _no_more(rest)
        with locked(options.build.resolve()):
            print(kernels.table(options.build.resolve() / "packages"), end="")
        return 0
    if options.command == "build":
        _no_more(rest)
        guest = guest_for(options, {})
        print(f"{guest.boot_file}\n{guest.image}")
        return 0
    commands = {"run": _run, "explore": _explore, "fuzz": _fuzz, "coverage": _coverage, "compare": _compare, "report": _report,
                "test": _test, "shell": _exec, "exec": _exec, "port": _exec, "capture": _capture, "mutants": _mutants,
                "dhcp": _dhcp, "matrix": _matrix, "adapter": _adapter}
    need_program(QEMU)
    with ending_on_signals():
        return commands[options.command](options, rest)


def main() -> int:
    try:
        return _main(sys.argv[1:])
    except LabError as problem:
        say(str(problem))
        # Who bisects by it skips what was asked for wrongly.
        if sys.argv[1:2] in (["exec"], ["shell"], ["port"]):
            return LAB_FAILED
        return _EXIT_USAGE if isinstance(problem, UsageError) else _EXIT_ERROR
    except Interrupted as problem:
        return problem.code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _EXIT_ERROR
    except OSError as problem:
        # A disk that is full, a folder that nobody may write to.
        say(f"{problem.strerror or problem}" + (f": {problem.filename2 or problem.filename}" if problem.filename else ""))
        return LAB_FAILED if sys.argv[1:2] in (["exec"], ["shell"], ["port"]) else _EXIT_ERROR
