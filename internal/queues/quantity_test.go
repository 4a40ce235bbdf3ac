package queues

import "testing"

// TestQuantities checks the form that API servers give back.
func TestQuantities(t *testing.T) {
	for n, want := range map[int]string{
		0: "0", 8: "8", 999: "999", 1000: "1k", 1500: "1500", 2048: "2048", 20000: "20k", 1000000: "1M", 1000000000: "1G", 1001000: "1001k",
	} {
		if got := quantity(n); got != want {
			t.Errorf("%d is written %s, want %s", n, got, want)
		}
	}
}
