"""One round: a command meets a fault; then the index is opened, verified and brought up to date."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import signal
import time
from pathlib import Path
from typing import Any

from process import HANGS, Ending, command, fork, forked
from setting import COMMANDS, WRITERS, Setting, asked, digests, plain

from dovetail._storage.directory import newest_manifest
from dovetail.errors import DovetailError
from dovetail.indexes.verify import verify_index
from faults import FAULTS, Scene, meet
from support.contents import leftovers

REBUILDS = "build the index again into a new folder with `dovetail index`"
PROGRESS = "to read; the index will need"


def planned(number: int, seed: int, faults: list[str]) -> tuple[str, str, random.Random]:
    """The fault, the command and the chance of a round: every pair comes in turn, in an order of its own."""
    pairs = [(fault, verb) for fault in faults for verb in COMMANDS if meet(fault, verb)]
    turn, place = divmod(number, len(pairs))
    random.Random(f"{seed} {turn}").shuffle(pairs)
    return (*pairs[place], random.Random(f"{seed} {number}"))


def play(setting: Setting, number: int, seed: int, faults: list[str]) -> dict[str, Any]:
    """What came of a round; `failures` is empty where everything is as promised."""
    fault, verb, chance = planned(number, seed, faults)
    folder = setting.folder / "round"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    begun = time.monotonic()
    with FAULTS[fault](setting, verb, folder, chance) as scene:
        ending, answers = disturbed(setting, verb, scene, folder)
        scene.mend()
        found = examined(setting, scene, folder)
    outcome, failures = judged(setting, verb, scene, ending, answers)
    failures += broken_promises(setting, verb, scene, found)
    said = [line for line in ending.err.splitlines() if line.strip() and PROGRESS not in line]
    return {
        "round": number, "seed": seed, "fault": fault, "command": verb, "about": scene.about, "outcome": outcome,
        "code": ending.code, "said": said[-12:], "failures": failures, "seconds": round(time.monotonic() - begun, 2),
    }  # fmt: skip


def disturbed(setting: Setting, verb: str, scene: Scene, folder: Path) -> tuple[Ending, list[tuple[int, Any]]]:
    """The command while the fault lasts; what a server has answered."""

    def work() -> int:
        scene.reach()
        scene.disturb()
        return command(*setting.arguments(verb, scene.index))

    with forked(work, folder) as process:
        if scene.kill_after is not None:
            if not process.wait(scene.kill_after):
                process.send(signal.SIGKILL)
            return process.ending(), []
        answers = asked(process) if verb == "serve" else []
        return process.ending(), answers


def judged(
    setting: Setting, verb: str, scene: Scene, ending: Ending, answers: list[tuple[int, Any]]
) -> tuple[str, list[str]]:
    """How the command ended, in a word, and what is wrong about that."""
    if ending.code == -signal.SIGKILL and scene.kill_after is not None:
        return "killed", []
    if ending.code == HANGS:
        return "hangs", ["the command does not end"]
    if verb == "serve" and ending.code == -signal.SIGTERM and "Traceback" not in ending.err:
        return judged_answers(setting, scene, answers)
    if "Traceback" in ending.err:  # also where a server was told to end
        return "traceback", ["a traceback instead of a sentence"]
    if ending.code < 0:
        return "crash", [f"the command ended by signal {-ending.code}"]
    if ending.code != 0:
        return "refused", [] if ending.err.strip() else ["the command failed and did not say why"]
    if verb in WRITERS or plain(ending.out, scene.index) == setting.answers[verb]:
        return "right", []
    return "wrong", [] if scene.damaged else ["the answer is wrong"]


def judged_answers(setting: Setting, scene: Scene, answers: list[tuple[int, Any]]) -> tuple[str, list[str]]:
    right = [answer == expected for answer, expected in zip(answers, setting.answers["serve"], strict=False)]
    refused = [status >= 400 and body and "Traceback" not in body for status, body in answers]
    if all(right):
        return "right", []
    if all(one or other for one, other in zip(right, refused, strict=True)):
        return "refused", []
    return "wrong", [] if scene.damaged else [f"the server answered {answers}"[:500]]


def examined(setting: Setting, scene: Scene, folder: Path) -> dict[str, Any]:
    """What the index is like after the fault has passed, and after the next run; found in a process of its own."""
    place = folder / "found.json"

    def work() -> int:
        scene.reach()
        found = state(scene.index)
        if scene.damaged:
            named = newest_manifest_names(scene)
            found["is_used"] = named is None or any(part in scene.damaged for part in named)
        found["recovery"] = command("index", setting.lake, "--to", scene.index, "--allow-drop")
        found["next"] = state(scene.index)
        found["verify"] = command("verify", scene.index)
        if scene.damaged:
            new = folder / "rebuilt"
            found["rebuilt"] = command("index", setting.lake, "--to", new) == 0 and digests(new) == setting.after
        elif "://" not in scene.index:
            found["leftovers"] = sorted(leftovers(Path(scene.index)))
        place.write_text(json.dumps(found))
        return 0

    (folder / "examined").mkdir()
    ending = fork(work, folder / "examined").ending()
    if not place.exists():
        return {"failure": f"the index cannot be examined: code {ending.code}, {ending.err[-1500:]}"}
    return {**json.loads(place.read_text()), "printed": ending.out}


def state(index: str) -> dict[str, Any]:
    """The problems that `verify` names, and what the index holds, or why it cannot be opened."""
    problems = list(verify_index(index).problems)
    with contextlib.suppress(DovetailError):
        return {"problems": problems, "tables": digests(index)} if not problems else {"problems": problems}
    return {"problems": problems, "tables": None}


def newest_manifest_names(scene: Scene) -> list[str] | None:
    """Parts of the names of the files that the newest generation is made of; None where it cannot be read."""
    try:
        manifest = newest_manifest(scene.index)
    except DovetailError:
        return None
    return [f"manifest-{manifest.generation}.json", "dovetail-index.json", *(ref.id for ref in manifest.segments)]


def broken_promises(setting: Setting, verb: str, scene: Scene, found: dict[str, Any]) -> list[str]:
    """What the index does not keep of what was promised."""
    if "failure" in found:
        return [found["failure"]]
    if scene.damaged and (found["is_used"] or found["problems"]):
        return promises_of_damage(scene, found)
    failures = [f"verify finds {problem}" for problem in found["problems"]]
    if not failures:
        failures += lost(setting, verb, found["tables"])
    if found["recovery"] != 0 or found["next"].get("tables") != setting.after:
        failures.append(f"the next run does not recover: code {found['recovery']}, {found['next']['problems']}")
    if found["verify"] != 0 or found.get("leftovers"):
        failures.append(f"after the next run: verify ends with {found['verify']}, left over {found.get('leftovers')}")
    return failures


def promises_of_damage(scene: Scene, found: dict[str, Any]) -> list[str]:
    """Damaged bytes are named, and by which command the index is built again; that command helps."""
    parts = [part for part in scene.damaged.split("/") if part != "segments"]
    name = parts[0] if len(parts) == 1 else parts[0] + "/" + parts[1].split(".")[0]
    failures = []
    if not any(name in problem for problem in found["problems"]):
        failures.append(f"verify does not name {scene.damaged}: {found['problems']}")
    if found["next"]["problems"] and (found["verify"] != 1 or REBUILDS not in found["printed"]):
        failures.append(f"verify ends with {found['verify']} and does not say what to do")
    return failures + ([] if found["rebuilt"] else ["an index that is built again is another one"])


def lost(setting: Setting, verb: str, tables: dict[str, str] | None) -> list[str]:
    """The tables that were committed and are not there any more, or are others."""
    if tables is None:
        return ["the index cannot be opened"]
    if verb != "index":
        return [] if tables == setting.before else ["the index holds something else than before"]
    expected = setting.before.keys() & setting.after.keys()
    failures = [f"{name} is lost" for name in sorted(expected - tables.keys())]
    for name, digest in sorted(tables.items()):
        if digest not in (setting.before.get(name), setting.after.get(name)):
            failures.append(f"{name} is neither as it was nor as it is")
    return failures
