package queues

import "strconv"

// quantity is an amount as Kubernetes writes it: Kueue gives back what it was
// given in this form, and in any other one it would be given it again and again.
func quantity(n int) string {
	suffix := ""
	for _, next := range []string{"k", "M", "G"} {
		if n == 0 || n%1000 != 0 {
			break
		}
		n, suffix = n/1000, next
	}
	return strconv.Itoa(n) + suffix
}
