# SPDX-License-Identifier: GPL-2.0-or-later
"""The CI files of samples/ci, read as far as running their jobs here needs: what is executed is what they say."""
import re
import subprocess
from dataclasses import dataclass, field

import yaml

from program import SOURCE

FOLDER = SOURCE / "samples/ci"
# What each CI calls a step's commands with.
_GITLAB, _GITHUB, _JENKINS = (["bash", "-eo", "pipefail", "-c"], ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"],
                              ["sh", "-xe", "-c"])
# The keys that the files use, by GitLab's and GitHub's schemas; None: any value.
_GITLAB_JOB = {"image": None, "script": None, "variables": None, "allow_failure": {"exit_codes": None},
               "retry": {"max": None, "exit_codes": None}, "cache": {"key": None, "when": None, "paths": None},
               "artifacts": {"when": None, "expire_in": None, "expose_as": None, "paths": None, "reports": {"junit": None}}}
_GITHUB_JOB = {"runs-on": None, "container": {"image": None, "options": None}, "env": None,
               "steps": {"uses": None, "with": None, "id": None, "name": None, "if": None, "run": None}}
_GITHUB_KEYS = {"name": None, "permissions": None, "defaults": {"run": {"shell": None}},
                "on": {"push": None, "pull_request": None, "workflow_dispatch": {"inputs": None}},
                "jobs": {"captures": _GITHUB_JOB, "lab": _GITHUB_JOB}}
# Which block of a declarative pipeline may be in which.
_JENKINS_BLOCKS = {"pipeline": {""}, "parameters": {"pipeline"}, "stages": {"pipeline"}, "stage": {"stages", "parallel"},
                   "parallel": {"stage"}, "agent": {"pipeline", "stage"}, "docker": {"agent"}, "environment": {"stage"},
                   "steps": {"stage"}, "post": {"stage"}, "always": {"post"}}


@dataclass
class Step:
    commands: str
    is_always: bool = False


@dataclass
class Job:
    shell: list[str]
    steps: list[Step]
    published: list[str]
    junit: str | None = None
    environment: dict[str, str] = field(default_factory=dict)

    def written(self):
        """What the commands are told to write."""
        return re.findall(r"--(?:junit|html|json|markdown|ctrf|evidence) (\S+)", "\n".join(s.commands for s in self.steps))

    def run(self, repository, environment):
        """As the CI would: a step after a failed one only if it asks for that. Exit code, and all that was printed."""
        code, said = 0, ""
        variables = {name: re.sub(r"\$\{\{ github.workspace \}\}|\$CI_PROJECT_DIR|\$\{WORKSPACE\}", str(repository), value)
                     for name, value in self.environment.items()}
        for step in self.steps:
            if code == 0 or step.is_always:
                done = subprocess.run([*self.shell, step.commands], cwd=repository, env={**variables, **environment},
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                      timeout=600, check=False)
                code, said = code or done.returncode, said + done.stdout
        return code, said


def legal(document, keys, where=""):
    """Complaints about keys that are not in the table."""
    found = []
    for one in document if isinstance(document, list) else [document]:
        for key, value in (one or {}).items():
            if key not in keys:
                found.append(f"{where}{key}")
            elif keys[key] is not None and value is not None:
                found += legal(value, keys[key], f"{where}{key}.")
    return found


def gitlab():
    document = yaml.safe_load((FOLDER / "gitlab-ci.yml").read_text())
    common, jobs = document["variables"], {}
    for name in ("captures", "lab"):
        one = document["ipoib-" + name]
        jobs[name] = Job(_GITLAB, [Step("\n".join(one["script"]))], one["artifacts"]["paths"],
                         one["artifacts"]["reports"]["junit"], {**common, **one.get("variables", {})})
    table = {"variables": None, "ipoib-captures": _GITLAB_JOB, "ipoib-lab": _GITLAB_JOB}
    return jobs, document, legal(document, table)


def github():
    document = yaml.safe_load((FOLDER / "github-actions.yml").read_text())
    # YAML 1.1 takes "on" for a truth value; GitHub does not.
    document["on"] = document.pop(True)
    default = document["on"]["workflow_dispatch"]["inputs"]["lab"]["default"]
    jobs = {}
    for name, one in document["jobs"].items():
        steps = [Step(step["run"], step.get("if") == "always()") for step in one["steps"] if "run" in step]
        kept = [step["with"]["path"] for step in one["steps"]
                if step.get("uses", "").startswith("actions/upload-artifact@") and step["if"] == "always()"]
        environment = {key: value.replace("${{ inputs.lab }}", default) for key, value in one.get("env", {}).items()}
        jobs[name] = Job(_GITHUB, steps, kept, None, environment)
    return jobs, document, legal(document, _GITHUB_KEYS)


def jenkins():
    text = (FOLDER / "Jenkinsfile").read_text()
    default = re.search(r"name: 'IPOIB_LAB', defaultValue: '([^']*)'", text)[1]
    jobs = {}
    for name, stage in re.findall(r"stage\('(Captures|Lab)'\)(.*?)(?=\n {8}stage|\Z)", text, re.DOTALL):
        # Groovy, too, joins a line that ends in a backslash with the next one.
        commands = re.search(r"judge '''(.*?)'''", stage, re.DOTALL)[1].replace("\\\n", "")
        always = re.search(r"always \{(.*?)\}", stage, re.DOTALL)[1]
        environment = dict(re.findall(r'(\w+) = "([^"]*)"', stage))
        jobs[name.lower()] = Job(_JENKINS, [Step(commands)],
                                 [path.removesuffix("**") for path in re.findall(r"artifacts: '([^']*)'", always)],
                                 re.search(r"junit '([^']*)'", always)[1], {"IPOIB_LAB": default, **environment})
    return jobs, text, _jenkins_complaints(text)


def _jenkins_complaints(text):
    """Brackets that do not nest, and blocks in the wrong place."""
    bare = re.sub(r"'''.*?'''|'[^'\n]*'|\"[^\"\n]*\"|//[^\n]*", "", text, flags=re.DOTALL)
    found, open_blocks = [], []
    for name, bracket in re.findall(r"(?:(\w+)\s*(?:\(\)\s*)?)?([{}()\[\]])", bare):
        if bracket in "{([":
            outer = next((block for block, kind in reversed(open_blocks) if kind == "{"), "")
            if bracket == "{" and (outer or name == "pipeline") and outer not in _JENKINS_BLOCKS.get(name, {""}):
                found.append(f"{name or bracket} in {outer}")
            open_blocks.append((name if name in _JENKINS_BLOCKS else "", bracket))
        elif not open_blocks or open_blocks.pop()[1] + bracket not in ("{}", "()", "[]"):
            return [*found, f"{bracket} closes nothing"]
    return [*found, *(f"{name} is not closed" for name, _ in open_blocks)]


ALL = {"GitLab": gitlab, "GitHub": github, "Jenkins": jenkins}
