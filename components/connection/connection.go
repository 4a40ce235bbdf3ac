// Package connection says how a host is reached. The lab makes connections
// for the hosts that it makes, [FromInventory] makes them for hosts that exist,
// and a program that creates machines on a cloud builds them itself; every
// other component takes them without asking where they came from.
package connection

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Connection is how the toolkit logs in to one host over SSH.
type Connection struct {
	// Name is the host's name, a fact known before the host exists.
	Name string
	// Address to connect to; may be known only when the host exists. Default:
	// the name, which must then resolve.
	Address pulumi.StringInput
	// Port of the SSH daemon. Default 22.
	Port int
	// User to log in as. Default "root"; any other needs sudo without password.
	User string
	// HostKeys are the keys that the host may present: known_hosts lines, or
	// bare public keys that are taken as this host's. Lines for the bastion
	// belong here too. A host whose key is not listed is refused.
	HostKeys pulumi.StringArrayInput
	// Bastion is a host to jump through, as [user@]host[:port]. Default: none.
	Bastion string
	// TrustOnFirstUse accepts a host key never seen before and remembers it in
	// the deployer's known_hosts file. Default false.
	TrustOnFirstUse bool
	// PrivateKey that logs in, kept as a secret. One key logs in to all hosts of
	// a cluster. Default: the SSH agent and the deployer's default keys.
	PrivateKey pulumi.StringInput
	// Instance is any text that changes when the host is made anew under the
	// same name and has lost what was installed on it: everything is then done
	// on it again in the same run. Default: none.
	Instance pulumi.StringInput
}

// Connections holds one connection a host, by host name.
type Connections map[string]Connection

// Check reports what is wrong with the connections as far as it is known
// before they are used: a connection under another host's name, and private
// keys that differ. Keys that are outputs are compared when they are known.
func (c Connections) Check() error {
	var problems []error
	names := c.Names()
	keys := map[pulumi.String]string{}
	for _, name := range names {
		if is := c[name].Name; is != name {
			problems = append(problems, fmt.Errorf("the connection of %s is to a host called %q", name, is))
		}
		if key, known := c[name].PrivateKey.(pulumi.String); known && keys[key] == "" {
			keys[key] = name
		}
	}
	if len(keys) > 1 {
		problems = append(problems, DifferentKeys(slices.Sorted(maps.Values(keys))...))
	}
	return errors.Join(problems...)
}

// DifferentKeys is the error of hosts whose private keys differ, one of each
// key.
func DifferentKeys(hosts ...string) error {
	return fmt.Errorf("the connections of one cluster use one private key; %s have different ones", strings.Join(hosts, " and "))
}

// Names returns the host names in lexical order.
func (c Connections) Names() []string {
	names := make([]string, 0, len(c))
	for name := range c {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
