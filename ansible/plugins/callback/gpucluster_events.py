# Writes one JSON object a line for every finished task of every host, so that
# the program that runs a playbook can follow it and tell what changed.
from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = """
    name: gpucluster_events
    type: stdout
    short_description: Results as JSON lines
    description:
      - Writes one JSON object a line to standard output for each play, task and
        result. What a task marks no_log is censored before it gets here.
    requirements:
      - set as stdout callback
"""

import json
import os
import shutil
import sys
import time

from ansible import __version__
from ansible import constants
from ansible.plugins.callback import CallbackBase

# What a result says about a failure, in order of preference.
MESSAGES = ("msg", "module_stderr", "stderr", "module_stdout", "stdout")


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "gpucluster_events"

    def __init__(self):
        super(CallbackModule, self).__init__()
        self._began = {}

    def _write(self, **event):
        sys.stdout.write(json.dumps(event, sort_keys=True, default=str) + "\n")
        sys.stdout.flush()

    def _result(self, result, status):
        found = result._result
        host = result._host.get_name()
        event = {
            "event": "result",
            "status": status,
            "host": host,
            "task": result._task.get_name(),
        }
        began = self._began.get(result._task._uuid)
        if began is not None:
            event["seconds"] = round(time.time() - began, 2)
        if status in ("failed", "ignored", "unreachable"):
            event["message"] = message_of(found)
            if isinstance(found.get("problems"), list):
                event["problems"] = [str(p) for p in found["problems"]]
        if isinstance(found.get("report"), dict):
            event["report"] = found["report"]
        if isinstance(found.get("changes"), list):
            event["changes"] = [str(c) for c in found["changes"]]
        self._write(**event)

    def v2_playbook_on_start(self, playbook):
        self._modules = ModuleCache(os.environ.get("GPUCLUSTER_MODULE_CACHE"))
        self._modules.fetch()

    def v2_playbook_on_stats(self, stats):
        self._modules.publish()

    def v2_playbook_on_play_start(self, play):
        self._write(event="play", name=play.get_name())

    def v2_playbook_on_task_start(self, task, is_conditional):
        self._began[task._uuid] = time.time()
        self._write(event="task", task=task.get_name())

    def v2_playbook_on_handler_task_start(self, task):
        self._began[task._uuid] = time.time()
        self._write(event="task", task=task.get_name())

    def v2_runner_on_ok(self, result):
        self._result(result, "changed" if result._result.get("changed") else "ok")

    def v2_runner_on_skipped(self, result):
        self._result(result, "skipped")

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self._result(result, "ignored" if ignore_errors else "failed")

    def v2_runner_on_unreachable(self, result):
        self._result(result, "unreachable")

    def v2_playbook_on_no_hosts_matched(self):
        self._write(event="empty")


class ModuleCache:
    """Keeps packed modules from one run to the next.

    Ansible packs each module with what it imports once a run, which costs more
    than everything else that a short run does. The store belongs to one state
    of the toolkit's modules, which its path names, and to one Ansible.
    """

    def __init__(self, store):
        self.store = store and os.path.join(store, __version__)
        self.own = os.path.join(constants.DEFAULT_LOCAL_TMP, "ansiballz_cache")

    def fetch(self):
        if not self.store or not private(self.store):
            return
        os.makedirs(self.own, exist_ok=True)
        for name in os.listdir(self.store):
            if not name.startswith("."):
                shutil.copyfile(os.path.join(self.store, name), os.path.join(self.own, name))

    def publish(self):
        if not self.store or not os.path.isdir(self.own):
            return
        os.makedirs(self.store, mode=0o700, exist_ok=True)
        if not private(self.store):
            return
        for name in os.listdir(self.own):
            kept = os.path.join(self.store, name)
            if not name.endswith("-part") and not os.path.exists(kept):
                # Runs go on side by side: a file appears whole or not at all.
                making = os.path.join(self.store, ".%s-%d" % (name, os.getpid()))
                shutil.copyfile(os.path.join(self.own, name), making)
                os.rename(making, kept)


def private(folder):
    """Whether nobody else can put anything into the folder."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    return found.st_uid == os.geteuid() and not found.st_mode & 0o022 and os.path.isdir(folder)


def message_of(found):
    """The one text that says best what went wrong."""
    if found.get("censored"):
        return "the task failed; its output is withheld because it handles secrets"
    texts = []
    for item in found.get("results") or []:
        if isinstance(item, dict) and item.get("failed"):
            texts.append("%s: %s" % (item.get("item"), message_of(item)))
    if texts:
        return "; ".join(texts)
    for key in MESSAGES:
        text = str(found.get(key) or "").strip()
        if text and text != "MODULE FAILURE":
            extra = str(found.get("stderr") or "").strip()
            if key == "msg" and extra and extra not in text:
                text += ": " + extra[-600:]
            return text
    return "no message"
