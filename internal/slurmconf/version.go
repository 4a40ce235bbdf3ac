package slurmconf

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Version is a Slurm release line such as 24.11.
type Version struct{ Year, Month int }

// Release lines at which what Slurm reads or does changed.
var (
	V2205 = Version{22, 5}
	V2302 = Version{23, 2}
	V2311 = Version{23, 11}
	V2405 = Version{24, 5}
	V2411 = Version{24, 11}
	V2505 = Version{25, 5}
	V2511 = Version{25, 11}
	V2605 = Version{26, 5}
)

// Supported lists the release lines that file sets are written for, oldest
// first. Each is loaded by its real daemons in this package's tests.
var Supported = []Version{V2205, V2411, V2605}

// ParseVersion reads "22.05", and also a full version such as "22.05.8".
func ParseVersion(s string) (Version, error) {
	parts := strings.Split(s, ".")
	if len(parts) < 2 || len(parts) > 3 || len(parts[0]) != 2 || len(parts[1]) != 2 {
		return Version{}, fmt.Errorf("slurm version %q: want a release line such as 24.11", s)
	}
	for _, p := range parts {
		if strings.Trim(p, "0123456789") != "" || p == "" {
			return Version{}, fmt.Errorf("slurm version %q: want a release line such as 24.11", s)
		}
	}
	year, _ := strconv.Atoi(parts[0])
	month, _ := strconv.Atoi(parts[1])
	return Version{year, month}, nil
}

func (v Version) String() string { return fmt.Sprintf("%02d.%02d", v.Year, v.Month) }

// IsZero tells whether no version is given.
func (v Version) IsZero() bool { return v == Version{} }

// Compare is negative, zero or positive as v is older than, equal to or newer
// than w.
func (v Version) Compare(w Version) int {
	return cmp.Or(cmp.Compare(v.Year, w.Year), cmp.Compare(v.Month, w.Month))
}

// AtLeast tells whether v is w or newer.
func (v Version) AtLeast(w Version) bool { return v.Compare(w) >= 0 }

// IsSupported tells whether v is in [Supported].
func (v Version) IsSupported() bool {
	for _, s := range Supported {
		if s == v {
			return true
		}
	}
	return false
}

// ConfiglessPushesScripts tells whether slurmctld hands a Prolog or Epilog with
// a relative path to the hosts. Below, they are placed on every host.
func (v Version) ConfiglessPushesScripts() bool { return v.AtLeast(V2311) }

// ReconfigureTakesNodes tells whether "scontrol reconfigure" takes added,
// removed and changed nodes. Below, slurmctld and every slurmd restart.
func (v Version) ReconfigureTakesNodes() bool { return v.AtLeast(V2311) }

// HasSackd tells whether login hosts can fetch their files through sackd.
// Below, they hold a copy of slurm.conf.
func (v Version) HasSackd() bool { return v.AtLeast(V2405) }

// DefaultMPI is the MPI plugin that Debian's build of the release has and that
// serves most programs: pmix, except that 26.05 is built without it.
func (v Version) DefaultMPI() string {
	if v.AtLeast(V2605) {
		return "pmi2"
	}
	return "pmix"
}
