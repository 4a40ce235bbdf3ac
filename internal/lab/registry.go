package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// registry is the lab's name service: one hosts file that every host of the lab has as its
// /etc/hosts. Docker's own resolver forgets hosts that are down, and a Slurm controller
// that restarts then must still resolve them. The file also is what keeps a host's address
// when its container is gone for a while. It is rewritten in place: the hosts hold its inode.
type registry struct {
	state stateDir
	lab   string
}

func (e *Engine) registry(lab string) registry { return registry{state: e.state, lab: lab} }

// hostsHeader is what every hosts file begins with.
const hostsHeader = `127.0.0.1 localhost
::1 localhost ip6-localhost ip6-loopback
`

func (r registry) dir() string  { return filepath.Join(string(r.state), "labs", r.lab) }
func (r registry) path() string { return filepath.Join(r.dir(), "hosts") }

// addresses reads the file; none is an empty registry.
func (r registry) addresses() (map[string]netip.Addr, error) {
	text, err := os.ReadFile(r.path())
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]netip.Addr{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the lab's hosts file: %w", err)
	}
	return parseHosts(string(text)), nil
}

// parseHosts reads the host lines of a hosts file that renderHosts wrote.
func parseHosts(text string) map[string]netip.Addr {
	found := map[string]netip.Addr{}
	for line := range strings.Lines(strings.TrimPrefix(text, hostsHeader)) {
		fields := strings.Fields(line)
		if len(fields) != 2 {
			continue
		}
		if a, err := netip.ParseAddr(fields[0]); err == nil {
			found[fields[1]] = a
		}
	}
	return found
}

// renderHosts writes the hosts file, in the order of the addresses.
func renderHosts(addresses map[string]netip.Addr) []byte {
	names := make([]string, 0, len(addresses))
	for name := range addresses {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return addresses[a].Compare(addresses[b]) })
	var b bytes.Buffer
	b.WriteString(hostsHeader)
	for _, name := range names {
		fmt.Fprintf(&b, "%s %s\n", addresses[name], name)
	}
	return b.Bytes()
}

// firstHost is the offset of the first host's address in the subnet; below it is the
// gateway and room for a load balancer or a registry that is no host.
const firstHost = 10

// chooseAddress returns the address that a host has, or the lowest free one. With none
// free, addresses of names that no container bears any more are used again.
func chooseAddress(host string, subnet netip.Prefix, known map[string]netip.Addr, living map[string]bool) (netip.Addr, error) {
	if a, ok := known[host]; ok && subnet.Contains(a) {
		return a, nil
	}
	for _, keepGone := range []bool{true, false} {
		used := map[netip.Addr]bool{}
		for name, a := range known {
			if keepGone || living[name] {
				used[a] = true
			}
		}
		last := 1<<(32-subnet.Bits()) - 2
		for n := firstHost; n <= last; n++ {
			if a := addToAddr(subnet.Masked().Addr(), n); !used[a] {
				return a, nil
			}
		}
	}
	return netip.Addr{}, fmt.Errorf("no free address is left in %s", subnet)
}

// assign gives a host its address and writes it down. living are the addresses that
// containers of the lab hold: they count even if the file was lost.
func (r registry) assign(ctx context.Context, host string, subnet netip.Prefix, living map[string]netip.Addr) (netip.Addr, error) {
	unlock, err := r.state.lock(ctx, "lab-"+r.lab)
	if err != nil {
		return netip.Addr{}, err
	}
	defer unlock()
	known, err := r.addresses()
	if err != nil {
		return netip.Addr{}, err
	}
	alive := map[string]bool{}
	for name, a := range living {
		known[name], alive[name] = a, true
	}
	address, err := chooseAddress(host, subnet, known, alive)
	if err != nil {
		return netip.Addr{}, err
	}
	for name, a := range known {
		if name != host && a == address || !subnet.Contains(a) {
			delete(known, name)
		}
	}
	known[host] = address
	return address, r.write(known)
}

// forget takes a host's name out.
func (r registry) forget(ctx context.Context, host string) error {
	unlock, err := r.state.lock(ctx, "lab-"+r.lab)
	if err != nil {
		return err
	}
	defer unlock()
	known, err := r.addresses()
	if _, ok := known[host]; err != nil || !ok {
		return err
	}
	delete(known, host)
	return r.write(known)
}

// write replaces the content of the file, not the file.
func (r registry) write(addresses map[string]netip.Addr) error {
	if err := os.MkdirAll(r.dir(), 0o755); err != nil {
		return fmt.Errorf("writing the lab's hosts file: %w", err)
	}
	text := renderHosts(addresses)
	if old, err := os.ReadFile(r.path()); err == nil && bytes.Equal(old, text) {
		return nil
	}
	f, err := os.OpenFile(r.path(), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return fmt.Errorf("writing the lab's hosts file: %w", err)
	}
	// First the content, then the length: a reader in between sees every name.
	_, err = f.WriteAt(text, 0)
	if err == nil {
		err = f.Truncate(int64(len(text)))
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("writing the lab's hosts file: %w", err)
	}
	return nil
}

// remove deletes what the registry keeps; nothing there is success.
func (r registry) remove(ctx context.Context) error {
	unlock, err := r.state.lock(ctx, "lab-"+r.lab)
	if err != nil {
		return err
	}
	defer unlock()
	if err := os.RemoveAll(r.dir()); err != nil {
		return fmt.Errorf("removing the lab's hosts file: %w", err)
	}
	return nil
}
