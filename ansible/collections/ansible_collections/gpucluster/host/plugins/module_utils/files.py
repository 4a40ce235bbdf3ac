# Apache-2.0, see LICENSE
"""Files and folders: what several modules place in the same way."""
from __future__ import absolute_import, division, print_function

__metaclass__ = type

import base64
import errno
import grp
import hashlib
import os
import pwd
import shutil
import stat
import tempfile


# Digests of the files that we placed and whose content cannot say so.
RECORDS = "/var/lib/gpucluster/placed"


class Problem(Exception):
    """Says why an entry cannot be placed."""


class Entry:
    """One path with what it is to become."""

    def __init__(self, spec, marker):
        self.path = os.path.normpath(spec["path"])
        if not os.path.isabs(self.path):
            raise Problem("not an absolute path")
        self.state, self.validate, self.foreign = spec["state"], spec["validate"], spec["foreign"]
        self.marker = marker.encode()
        self.record = os.path.join(RECORDS, self.path.strip("/").replace("/", "-") + ".sha256") if spec["recorded"] else None
        self.mode = int(spec["mode"] or ("0755" if self.state == "directory" else "0644"), 8)
        self.content = None
        if self.state == "file":
            text = spec["content"] if spec["secret_content"] is None else spec["secret_content"]
            self.content = base64.b64decode(text) if spec["encoding"] == "base64" else text.encode("utf-8")
        if self.state != "absent":
            self.owner = self.number(spec["owner"], pwd.getpwnam, "pw_uid")
            self.group = self.number(spec["group"], grp.getgrnam, "gr_gid")

    @staticmethod
    def number(name, look_up, field):
        if name.isdigit():
            return int(name)
        try:
            return getattr(look_up(name), field)
        except KeyError:
            raise Problem("there is no user or group %s on this host" % name)

    def plan(self):
        """Say what must change, in words; nothing when the path is right."""
        try:
            found = os.lstat(self.path)
        except FileNotFoundError:
            return [] if self.state == "absent" else ["created"]
        except OSError as e:
            # A mount whose server is away: the folder is there, below it. What mounts it puts that right.
            if e.errno == errno.ENOTCONN and self.state == "directory":
                return []
            raise
        kind = stat.S_IFMT(found.st_mode)
        if self.state == "directory":
            if kind != stat.S_IFDIR:
                raise Problem("exists and is not a folder")
            return self.attributes(found)
        if self.state == "absent" and kind != stat.S_IFREG:
            return ["removed"]
        if kind != stat.S_IFREG:
            raise Problem("exists and is not a plain file")
        with open(self.path, "rb") as f:
            present = f.read()
        if present != self.content and self.foreign != "replace" and not self.ours(present):
            if self.foreign == "keep":
                return []
            raise Problem("exists and is not ours; move it away, or take its content over into the environment")
        if self.state == "absent":
            return ["removed"]
        recorded = not self.record or digest(present) in self.recorded()
        return ([] if present == self.content else ["content"]) + ([] if recorded else ["recorded"]) + self.attributes(found)

    def ours(self, present):
        return self.marker in present or digest(present) in self.recorded()

    def recorded(self):
        try:
            with open(self.record or os.devnull) as f:
                return f.read().split()
        except FileNotFoundError:
            return []

    def note(self, digests):
        """Write down which contents are ours."""
        if not self.record:
            return
        os.makedirs(RECORDS, mode=0o700, exist_ok=True)
        write(self.record, "".join(d + "\n" for d in digests).encode(), 0, 0, 0o600)

    def attributes(self, found):
        changes = []
        if stat.S_IMODE(found.st_mode) != self.mode:
            changes.append("mode")
        if (found.st_uid, found.st_gid) != (self.owner, self.group):
            changes.append("owner")
        return changes

    def apply(self, module, changes):
        if self.state == "absent":
            if os.path.isdir(self.path) and not os.path.islink(self.path):
                shutil.rmtree(self.path)
            else:
                os.unlink(self.path)
            folder = os.path.dirname(self.path)
            # A folder of drop-ins goes with the last of them.
            if folder.endswith(".service.d") and not os.listdir(folder):
                os.rmdir(folder)
            if self.record and os.path.exists(self.record):
                os.unlink(self.record)
        elif self.state == "directory":
            os.makedirs(self.path, exist_ok=True)
            os.chown(self.path, self.owner, self.group)
            os.chmod(self.path, self.mode)
        elif "created" in changes or "content" in changes:
            # Interrupted at any point, the next run still knows the file.
            self.note(self.recorded() + [digest(self.content)])
            write(self.path, self.content, self.owner, self.group, self.mode, lambda temporary: self.judge(module, temporary))
            self.note([digest(self.content)])
        else:
            self.note([digest(self.content)])
            os.chown(self.path, self.owner, self.group)
            os.chmod(self.path, self.mode)

    def judge(self, module, temporary):
        if not self.validate:
            return
        rc, out, err = module.run_command(self.validate.replace("%s", temporary), use_unsafe_shell=True)
        if rc != 0:
            said = (err or out).strip().replace(temporary, self.path)
            raise Problem("refused by its check: %s" % said[-600:])


def digest(content):
    return hashlib.sha256(content).hexdigest()


def write(path, content, owner, group, mode, judge=None):
    """Write a file next to its place, have it judged, and rename it."""
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    fd, temporary = tempfile.mkstemp(prefix=".gpucluster-", dir=folder)
    try:
        with os.fdopen(fd, "wb") as f:
            f.write(content)
            f.flush()
            os.fsync(f.fileno())
        os.chown(temporary, owner, group)
        os.chmod(temporary, mode)
        if judge:
            judge(temporary)
        os.rename(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def unlisted(folders, listed, marker):
    """Files of ours in those folders that nobody asks for any more."""
    paths = []
    for folder in folders:
        for name in os.listdir(folder) if os.path.isdir(folder) else []:
            path = os.path.join(folder, name)
            if path in listed or not os.path.isfile(path) or os.path.islink(path):
                continue
            with open(path, "rb") as f:
                if marker.encode() in f.read():
                    paths.append(path)
    return paths


ENTRY = {
    "path": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["file", "directory", "absent"], "default": "file"},
    "content": {"type": "str", "default": ""},
    "secret_content": {"type": "str", "no_log": True},
    "encoding": {"type": "str", "choices": ["text", "base64"], "default": "text"},
    "mode": {"type": "str"},
    "owner": {"type": "str", "default": "root"},
    "group": {"type": "str", "default": "root"},
    "validate": {"type": "str"},
    "foreign": {"type": "str", "choices": ["refuse", "replace", "keep"], "default": "refuse"},
    "recorded": {"type": "bool", "default": False},
}

# The arguments of every module that places files.
ARGUMENTS = {
    "files": {"type": "list", "elements": "dict", "default": [], "options": ENTRY},
    "prune": {"type": "list", "elements": "str", "default": []},
    "prune_keep": {"type": "list", "elements": "str", "default": []},
    "marker": {"type": "str", "default": "written by gpucluster"},
}


def theirs(module):
    """Whether one of the files is there and is somebody else's."""
    for spec in module.params["files"]:
        entry = Entry(spec, module.params["marker"])
        if os.path.isfile(entry.path):
            with open(entry.path, "rb") as f:
                if not entry.ours(f.read()):
                    return True
    return False


def place(module):
    """Place what the module's arguments ask for, and say what changed. Nothing
    is written when any entry has a problem."""
    marker = module.params["marker"]
    specs = {os.path.normpath(f["path"]): f for f in module.params["files"]}
    for path in unlisted(module.params["prune"], set(specs).union(module.params["prune_keep"]), marker):
        specs[path] = {"path": path, "state": "absent", "validate": None, "foreign": "refuse", "recorded": False, "mode": None}

    planned, problems = [], []
    # Parents sort before what is in them.
    for path in sorted(specs):
        try:
            entry = Entry(specs[path], marker)
            changes = entry.plan()
        except (Problem, OSError, ValueError) as e:
            problems.append("%s: %s" % (path, e))
            continue
        if changes:
            planned.append((entry, changes))
    if problems:
        module.fail_json(msg="nothing was placed: %s" % "; ".join(problems), problems=problems)

    done = []
    for entry, changes in planned:
        if not module.check_mode:
            try:
                entry.apply(module, changes)
            except (Problem, OSError) as e:
                module.fail_json(msg="%s: %s" % (entry.path, e), changed=bool(done), changes=done)
        done.append("%s (%s)" % (entry.path, ", ".join(changes)))
    return done
