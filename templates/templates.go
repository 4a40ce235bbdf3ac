// Package templates holds the text templates of configuration files, laid out
// and named as the files land on the hosts.
package templates

import "embed"

// FS holds every template under its folder's name, such as
// "slurm/slurm.conf.tmpl".
//
//go:embed kubernetes slurm
var FS embed.FS
