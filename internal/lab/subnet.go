package lab

import (
	"errors"
	"fmt"
	"hash/fnv"
	"net/netip"
	"strings"
)

// defaultPools are where subnets of labs come from, 256 in each, away from Docker's own
// defaults (172.17.0.0/12, 192.168.0.0/16) and from what Kubernetes clusters usually take.
// The second, of the range for benchmarks of networks, serves machines that route all of
// 10.0.0.0/8 elsewhere.
var defaultPools = []netip.Prefix{netip.MustParsePrefix("10.213.0.0/16"), netip.MustParsePrefix("198.18.0.0/16")}

// subnetBits is the prefix length of a lab's subnet: room for 244 hosts.
const subnetBits = 24

var errPoolExhausted = errors.New("no free subnet is left for a lab")

// chooseFromPools returns a subnet of the first pool that has a free one.
func chooseFromPools(lab string, pools, taken []netip.Prefix) (netip.Prefix, error) {
	var subnet netip.Prefix
	err := errPoolExhausted
	for _, pool := range pools {
		if subnet, err = chooseSubnet(lab, pool, taken); err == nil {
			break
		}
	}
	return subnet, err
}

// chooseSubnet returns a subnet of the pool that overlaps nothing in taken. It starts at a
// place given by the lab's name, so that a lab usually gets the same subnet again.
func chooseSubnet(lab string, pool netip.Prefix, taken []netip.Prefix) (netip.Prefix, error) {
	if !pool.Addr().Is4() || pool.Bits() > subnetBits {
		return netip.Prefix{}, fmt.Errorf("the lab's address pool %s is not an IPv4 prefix of at most %d bits", pool, subnetBits)
	}
	count := 1 << (subnetBits - pool.Bits())
	h := fnv.New32a()
	_, _ = h.Write([]byte(lab))
	first := int(h.Sum32() % uint32(count))
	for i := range count {
		candidate := nthSubnet(pool, (first+i)%count)
		if !overlapsAny(candidate, taken) {
			return candidate, nil
		}
	}
	return netip.Prefix{}, fmt.Errorf("%w in %s", errPoolExhausted, pool)
}

func nthSubnet(pool netip.Prefix, n int) netip.Prefix {
	return netip.PrefixFrom(addToAddr(pool.Masked().Addr(), n<<(32-subnetBits)), subnetBits)
}

func addToAddr(a netip.Addr, n int) netip.Addr {
	b := a.As4()
	v := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	v += uint32(n)
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)})
}

func overlapsAny(p netip.Prefix, taken []netip.Prefix) bool {
	for _, t := range taken {
		if p.Overlaps(t) {
			return true
		}
	}
	return false
}

// parseRoutes reads the destinations in the output of `ip -4 route show table all`. The
// default route is left out: it overlaps everything.
func parseRoutes(text string) []netip.Prefix {
	var found []netip.Prefix
	for line := range strings.Lines(text) {
		for _, word := range strings.Fields(line) {
			// Some lines begin with a route type ("local", "broadcast", "unreachable").
			if p, ok := parsePrefix(word); ok {
				found = append(found, p)
				break
			}
			if word == "default" || word == "via" || word == "dev" {
				break
			}
		}
	}
	return found
}

// parsePrefix reads an IPv4 address or prefix; /0 counts as none.
func parsePrefix(s string) (netip.Prefix, bool) {
	if a, err := netip.ParseAddr(s); err == nil && a.Is4() {
		return netip.PrefixFrom(a, 32), true
	}
	p, err := netip.ParsePrefix(s)
	if err != nil || !p.Addr().Is4() || p.Bits() == 0 {
		return netip.Prefix{}, false
	}
	return p.Masked(), true
}
