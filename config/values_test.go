package config

import (
	"encoding/json"
	"math"
	"testing"
	"time"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]Size{"1MiB": 1, "512GiB": 512 << 10, "2TiB": 2 << 20, "0MiB": 0} {
		got, err := ParseSize(text)
		if err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "512", "512GB", "1.5GiB", "-1GiB", "+1GiB", " 1GiB", "GiB", "1 GiB", "99999999999999999999GiB", "9223372036854775807TiB"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", text, got)
		}
	}
}

func TestSizeText(t *testing.T) {
	for size, want := range map[Size]string{0: "0MiB", 1: "1MiB", 1024: "1GiB", 1536: "1536MiB", 2 << 20: "2TiB", 3 << 19: "1536GiB"} {
		if got := size.String(); got != want {
			t.Errorf("%d = %s, want %s", int64(size), got, want)
		}
		text, err := json.Marshal(size)
		var back Size
		if err != nil || json.Unmarshal(text, &back) != nil || back != size {
			t.Errorf("%d comes back from JSON %s as %d", size, text, back)
		}
	}
}

func TestParseSlurmTime(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30": 30 * time.Minute, "30:15": 30*time.Minute + 15*time.Second, "01:00:00": time.Hour,
		"2-0": 48 * time.Hour, "2-12": 60 * time.Hour, "2-00:30": 48*time.Hour + 30*time.Minute,
		"2-00:00:01": 48*time.Hour + time.Second, "0": 0, "UNLIMITED": math.MaxInt64, "infinite": math.MaxInt64,
	} {
		got, err := parseSlurmTime(text)
		if err != nil || got != want {
			t.Errorf("parseSlurmTime(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "2 days", "1h", "-1", "1-", "1:2:3:4", "99999999999", "99999999-0", "1.5"} {
		if got, err := parseSlurmTime(text); err == nil {
			t.Errorf("parseSlurmTime(%q) = %v, want an error", text, got)
		}
	}
}

func TestNormalGPUType(t *testing.T) {
	for name, want := range map[string]string{"Tesla T4": "tesla_t4", "H100": "h100", "nvidia:a100": "nvidia_a100", "3090": "3090", "1g.10gb": "1g.10gb", " ": "gpu", "_x": "x"} {
		if got := normalGPUType(name); got != want {
			t.Errorf("normalGPUType(%q) = %q, want %q", name, got, want)
		} else if !gpuType.MatchString(got) {
			t.Errorf("%q is no type itself", got)
		}
	}
}

func TestAnyMatches(t *testing.T) {
	for _, c := range []struct {
		patterns []string
		host     string
		want     bool
	}{
		{[]string{"gpu1"}, "gpu1", true},
		{[]string{"gpu*"}, "gpu12", true},
		{[]string{"gpu?"}, "gpu12", false},
		{[]string{"[10.0.0.1]:2222"}, "10.0.0.1", true},
		{[]string{"gpu*", "!gpu3"}, "gpu3", false},
		{nil, "gpu1", false},
	} {
		if got := anyMatches(c.patterns, c.host); got != c.want {
			t.Errorf("anyMatches(%q, %s) = %v", c.patterns, c.host, got)
		}
	}
}
