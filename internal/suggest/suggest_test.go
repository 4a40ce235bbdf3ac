package suggest

import "testing"

func TestClosest(t *testing.T) {
	keys := []string{"name", "names", "hosts", "maxTime", "priorityTier", "partitions", "qos"}
	for word, want := range map[string]string{
		"hsots":        "hosts",
		"host":         "hosts",
		"maxtime":      "maxTime",
		"max_time":     "maxTime",
		"partition":    "partitions",
		"priortyTier":  "priorityTier",
		"QOS":          "qos",
		"nmae":         "name",
		"entirely":     "",
		"":             "",
		"x":            "",
		"priorityTire": "priorityTier",
	} {
		if got := Closest(word, keys); got != want {
			t.Errorf("Closest(%q) = %q, want %q", word, got, want)
		}
	}
	if got := Closest("gpu3", nil); got != "" {
		t.Errorf("Closest without candidates = %q", got)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "axc", 1}, {"kitten", "sitting", 3}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
