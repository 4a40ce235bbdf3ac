package config

// Size is an amount of memory in MiB. In YAML it is written with a unit, for
// example "512GiB", "2TiB" or "4096MiB".
type Size int64

// Units of a [Size], for environments built in Go: 512 * GiB.
const (
	MiB Size = 1
	GiB      = 1024 * MiB
	TiB      = 1024 * GiB
)

// Secret is a value that never appears in a report, a log or plain state. In
// a stack file it is a Pulumi secret ({secure: ...}); a plain string is refused.
type Secret struct {
	// Value is the clear text; empty until the engine has decrypted it.
	Value string `json:"-" yaml:"-"`
	// Set reports that the file gives one.
	Set bool `json:"set,omitempty" yaml:"-"`
}
