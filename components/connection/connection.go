// Package connection says how a host is reached. The lab makes connections
// for the hosts that it makes, [FromInventory] makes them for hosts that exist,
// and a program that creates machines on a cloud builds them itself; every
// other component takes them without asking where they came from.
package connection

import (
	"sort"

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
	// PrivateKey that logs in, kept as a secret. Default: the SSH agent.
	PrivateKey pulumi.StringInput
	// Instance is any text that changes when the host is made anew under the
	// same name and has lost what was installed on it: everything is then done
	// on it again in the same run. Default: none.
	Instance pulumi.StringInput
}

// Connections holds one connection a host, by host name.
type Connections map[string]Connection

// Names returns the host names in lexical order.
func (c Connections) Names() []string {
	names := make([]string, 0, len(c))
	for name := range c {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
