// Package remote runs commands on hosts over SSH.
//
// [Open] turns a list of targets into a [Session]: a private directory with an
// ssh_config, the expected host keys and, if one is given, the private key.
// [Session.Run] then runs one command on one host through the system's ssh
// program, and other programs that speak SSH (Ansible) use the same directory
// through [Session.ConfigFile]. [Session.Close] ends the shared connections and
// removes the directory.
//
// Host keys are always verified. A key that was never seen is accepted only
// where [Target.TrustOnFirstUse] says so, and is then remembered.
//
// Secrets belong into the standard input of a command, never into the command:
// the command is visible in the host's process list.
package remote
