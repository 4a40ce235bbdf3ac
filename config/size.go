package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/strictyaml"
)

// sizeUnits are the units of a [Size] in MiB, largest first.
var sizeUnits = []struct {
	name string
	mib  int64
}{{"TiB", 1 << 20}, {"GiB", 1 << 10}, {"MiB", 1}}

// ParseSize reads an amount of memory: a whole number directly followed by
// MiB, GiB or TiB.
func ParseSize(text string) (Size, error) {
	for _, unit := range sizeUnits {
		digits, ok := strings.CutSuffix(text, unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 63)
		if err != nil || int64(n) > math.MaxInt64/unit.mib {
			return 0, fmt.Errorf("%q is not a whole number of %s", text, unit.name)
		}
		return Size(int64(n) * unit.mib), nil
	}
	return 0, fmt.Errorf("%q has no unit", text)
}

// MiB is the amount in MiB.
func (s Size) MiB() int64 { return int64(s) }

// String writes the size with the largest unit that loses nothing.
func (s Size) String() string {
	for _, unit := range sizeUnits {
		if int64(s)%unit.mib == 0 && s != 0 {
			return strconv.FormatInt(int64(s)/unit.mib, 10) + unit.name
		}
	}
	return strconv.FormatInt(int64(s), 10) + "MiB"
}

// MarshalText writes the size as a stack file does.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what [ParseSize] reads.
func (s *Size) UnmarshalText(text []byte) error {
	size, err := ParseSize(string(text))
	if err != nil {
		return &strictyaml.Error{Kind: strictyaml.Invalid, What: err.Error(), Hint: "write a whole number and MiB, GiB or TiB, as in 512GiB"}
	}
	*s = size
	return nil
}
