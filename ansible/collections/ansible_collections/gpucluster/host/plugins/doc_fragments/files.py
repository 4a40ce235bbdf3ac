# Apache-2.0, see LICENSE
from __future__ import absolute_import, division, print_function

__metaclass__ = type


class ModuleDocFragment(object):
    """The options of modules that place files."""

    DOCUMENTATION = r"""
options:
  files:
    description: What to place.
    type: list
    elements: dict
    default: []
    suboptions:
      path:
        description: Absolute path.
        type: str
        required: true
      state:
        description: What the path is to be.
        type: str
        choices: [file, directory, absent]
        default: file
      content:
        description: Content of a file.
        type: str
        default: ""
      secret_content:
        description: Content in place of content, which is shown nowhere.
        type: str
      encoding:
        description: How the content is written here.
        type: str
        choices: [text, base64]
        default: text
      mode:
        description: Permissions in octal. Default 0644, folders 0755.
        type: str
      owner:
        description: Owner, by name or number.
        type: str
        default: root
      group:
        description: Group, by name or number.
        type: str
        default: root
      validate:
        description: A shell command that must succeed before the file is put in place. A percent sign and s stand for the file to judge.
        type: str
      foreign:
        description: What happens to a file without the marker. It stops the task, is replaced, or is kept silently.
        type: str
        choices: [refuse, replace, keep]
        default: refuse
      recorded:
        description: For content that cannot hold the marker. A digest of what was placed is kept below /var/lib/gpucluster/placed, and a file with another content is somebody else's.
        type: bool
        default: false
  prune:
    description: Folders in which every file with the marker that is not listed is removed.
    type: list
    elements: str
    default: []
  prune_keep:
    description: Files in those folders that are left as they are.
    type: list
    elements: str
    default: []
  marker:
    description: Text by which a file of ours is known.
    type: str
    default: written by gpucluster
"""
