// Package ansible carries the roles, playbooks and modules that do the work on
// hosts, so that every program built with the toolkit has them with it.
//
// Roles place what Go has rendered; they render no configuration themselves.
// A role's inputs are declared in its meta/argument_specs.yml and equal its
// defaults.
package ansible

import "embed"

// FS holds this folder as Ansible expects it on disk.
//
//go:embed roles playbooks plugins collections
var FS embed.FS
