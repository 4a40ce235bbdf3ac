package hostlist

import (
	"sort"
	"strconv"
	"strings"
)

// Option changes what [Compress] does.
type Option func(*options)

type options struct{ keepOrder bool }

// KeepOrder keeps the names in the order given, repetitions included: only
// neighbours that count upwards are joined. Slurm orders nodes as they are
// listed, which matters for block topologies.
func KeepOrder() Option { return func(o *options) { o.keepOrder = true } }

// Compress returns the expression that stands for names, sorted naturally
// ([Less]) and without repetitions unless [KeepOrder] is given. Each item of
// the expression has at most one bracket pair and nothing after it, so Slurm
// 22.05 reads it as well. Names are not checked: see [Check].
func Compress(names []string, opts ...Option) string {
	var o options
	for _, set := range opts {
		set(&o)
	}
	split := make([]splitName, len(names))
	for i, n := range names {
		split[i] = cut(n)
	}
	if !o.keepOrder {
		sort.Slice(split, func(i, j int) bool { return split[i].less(split[j]) })
	}
	var b strings.Builder
	for i := 0; i < len(split); {
		i = writeItem(&b, split, i, o.keepOrder)
	}
	return b.String()
}

// splitName is a name cut before the number it ends in. width is the number's
// length in digits, 0 when there is none that Slurm can count with.
type splitName struct {
	full, prefix string
	num          uint64
	width        int
}

func cut(name string) splitName {
	at := len(name)
	for at > 0 && name[at-1] >= '0' && name[at-1] <= '9' && len(name)-at < MaxDigits {
		at--
	}
	s := splitName{full: name, prefix: name[:at], width: len(name) - at}
	if s.width == 0 || at > 0 && name[at-1] >= '0' && name[at-1] <= '9' {
		return splitName{full: name, prefix: name}
	}
	s.num, _ = strconv.ParseUint(name[at:], 10, 64)
	return s
}

// writeItem writes the item that starts at split[i] (with its comma) and
// returns the index after it. Names with one prefix share a bracket pair.
func writeItem(b *strings.Builder, split []splitName, i int, keepOrder bool) int {
	if b.Len() > 0 {
		b.WriteByte(',')
	}
	first := split[i]
	end := i + 1
	for end < len(split) && split[end].prefix == first.prefix && (split[end].width > 0) == (first.width > 0) {
		end++
	}
	if first.width == 0 {
		b.WriteString(first.full)
		if keepOrder {
			return i + 1
		}
		return end // equal names: one is enough
	}
	run := split[i:end]
	if len(run) == 1 || !keepOrder && allEqual(run) {
		b.WriteString(first.full)
		return end
	}
	b.WriteString(first.prefix)
	b.WriteByte('[')
	budget := MaxRange
	n := writeRanges(b, run, keepOrder, budget)
	b.WriteByte(']')
	return i + n
}

func allEqual(run []splitName) bool { return run[0].full == run[len(run)-1].full }

// writeRanges writes at most budget numbers of run and returns how many
// entries it used up.
func writeRanges(b *strings.Builder, run []splitName, keepOrder bool, budget int) int {
	used := 0
	for used < len(run) && budget > 0 {
		lo := run[used]
		hi := lo
		used++
		budget--
		for used < len(run) && budget > 0 {
			next := run[used]
			if !keepOrder && next.num == hi.num && next.width == hi.width {
				used++
				continue
			}
			if next.num != hi.num+1 || !follows(lo, next) {
				break
			}
			hi = next
			used++
			budget--
		}
		if b.String()[b.Len()-1] != '[' {
			b.WriteByte(',')
		}
		b.WriteString(lo.full[len(lo.prefix):])
		if hi.num != lo.num {
			b.WriteByte('-')
			b.WriteString(hi.full[len(hi.prefix):])
		}
	}
	return used
}

// follows tells whether a range that starts at lo writes next's number with
// the digits next has: padded to lo's width, and longer only where needed.
func follows(lo, next splitName) bool {
	if next.width == lo.width {
		return true
	}
	return next.width > lo.width && next.full[len(next.prefix)] != '0'
}
