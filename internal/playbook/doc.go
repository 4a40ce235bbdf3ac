// Package playbook runs the toolkit's embedded Ansible playbooks on the hosts
// of a [remote.Session].
//
// [Run] unpacks the embedded tree into the session's private directory, writes
// the inventory and the variables next to it (secrets into a file of their
// own, mode 0600, gone when the run ends), starts ansible-playbook, and turns
// what it reports into a [Result]: per host what changed, or which task failed
// and why. Every host is tried, whatever happens to the others.
//
// Ansible's own configuration and environment on the deployer are ignored, so
// that the same call does the same thing everywhere.
package playbook
