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
import sys
import time

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
        if status in ("failed", "unreachable"):
            event["message"] = message_of(found)
            if isinstance(found.get("problems"), list):
                event["problems"] = [str(p) for p in found["problems"]]
        if isinstance(found.get("report"), dict):
            event["report"] = found["report"]
        if isinstance(found.get("changes"), list):
            event["changes"] = [str(c) for c in found["changes"]]
        self._write(**event)

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
