package config

// Lab makes the environment's hosts as containers with simulated GPUs.
type Lab struct {
	// Subnet fixes the network of the lab in CIDR form. Default: a free one
	// is chosen when the lab is made.
	Subnet string `yaml:"subnet,omitempty" json:"subnet,omitempty"`
}

// Inventory says how hosts that exist already are reached.
type Inventory struct {
	// Addresses maps a hostlist expression of names to an expression of as
	// many addresses. A host without an entry is reached by its name, which
	// must then resolve.
	Addresses map[string]string `yaml:"addresses,omitempty" json:"addresses,omitempty"`

	// SSH says how to log in.
	SSH SSH `yaml:"ssh" json:"ssh"`

	// DNS says whether the hosts' names resolve on the hosts themselves.
	// With "hosts" the toolkit keeps a block in /etc/hosts on every host; a
	// change of the host list then touches all hosts. Default "existing".
	DNS DNS `yaml:"dns,omitempty" json:"dns,omitempty" check:"enum=existing|hosts"`
}

// DNS says who makes host names resolve.
type DNS string

// Who makes names resolve.
const (
	// DNSExisting means that the site's resolver knows every host.
	DNSExisting DNS = "existing"
	// DNSHosts means that the toolkit keeps a block in /etc/hosts.
	DNSHosts DNS = "hosts"
)

// SSH is how the toolkit logs in to hosts.
type SSH struct {
	// User to log in as. Default "root"; any other needs sudo without
	// password.
	User string `yaml:"user,omitempty" json:"user,omitempty"`
	// Port of the SSH daemon. Default 22.
	Port int `yaml:"port,omitempty" json:"port,omitempty" check:"min=1,max=65535"`
	// PrivateKey is the key itself, without a passphrase, as a Pulumi secret.
	// Without it the SSH agent is used, which may also hold keys with a
	// passphrase, and certificates.
	PrivateKey Secret `yaml:"privateKey,omitempty" json:"privateKey,omitempty"`
	// Bastion is a host to jump through, as [user@]host[:port]. A host of the
	// environment is reached as the others are, with the same user and port
	// unless others are given here.
	Bastion string `yaml:"bastion,omitempty" json:"bastion,omitempty"`
	// HostKeys lists known_hosts lines of the hosts and the bastion. Host keys
	// are always verified unless TrustOnFirstUse says otherwise.
	HostKeys []string `yaml:"hostKeys,omitempty" json:"hostKeys,omitempty"`
	// TrustOnFirstUse accepts and remembers a host key never seen before in
	// the deployer's own known_hosts file. Default false.
	TrustOnFirstUse bool `yaml:"trustOnFirstUse,omitempty" json:"trustOnFirstUse,omitempty"`
}

// Identity holds people and groups with ids that are the same everywhere.
type Identity struct {
	// Source says where accounts come from. Default "managed": the toolkit
	// creates the users and groups below on every host. "existing" means that
	// hosts know them already (LDAP, SSSD); ids are then checked, not made.
	Source IdentitySource `yaml:"source,omitempty" json:"source,omitempty" check:"enum=managed|existing"`
	// Groups with fixed ids.
	Groups []Group `yaml:"groups,omitempty" json:"groups,omitempty"`
	// Users with fixed ids.
	Users []User `yaml:"users,omitempty" json:"users,omitempty"`
}

// IdentitySource says who makes users and groups.
type IdentitySource string

// Who makes users and groups.
const (
	IdentityManaged  IdentitySource = "managed"
	IdentityExisting IdentitySource = "existing"
)

// Group is a POSIX group.
type Group struct {
	// Name of the group.
	Name string `yaml:"name" json:"name"`
	// GID is its number, 1000 to 59999.
	GID int `yaml:"gid" json:"gid" check:"min=1000,max=59999"`
}

// User is a person or service that owns jobs and files.
type User struct {
	// Name to log in with.
	Name string `yaml:"name" json:"name"`
	// UID is the user's number, 1000 to 59999.
	UID int `yaml:"uid" json:"uid" check:"min=1000,max=59999"`
	// Group is the primary group's name.
	Group string `yaml:"group" json:"group"`
	// Groups are further groups.
	Groups []string `yaml:"groups,omitempty" json:"groups,omitempty"`
	// Shell to start. Default "/bin/bash".
	Shell string `yaml:"shell,omitempty" json:"shell,omitempty"`
	// AuthorizedKeys are SSH public keys placed on login hosts.
	AuthorizedKeys []string `yaml:"authorizedKeys,omitempty" json:"authorizedKeys,omitempty"`
}

// HomeKind says what carries the shared home.
type HomeKind string

// What carries the shared home.
const (
	// HomeExisting means that the path is a mount on every host already.
	HomeExisting HomeKind = "existing"
	// HomeGlusterFS means a GlusterFS volume served by the storage host.
	HomeGlusterFS HomeKind = "glusterfs"
)

// Home is the home directory tree that all hosts share.
type Home struct {
	// Kind of file system.
	Kind HomeKind `yaml:"kind" json:"kind" check:"enum=existing|glusterfs"`
	// Path where it is mounted on every host. Default "/home".
	Path string `yaml:"path,omitempty" json:"path,omitempty"`
	// Brick is the directory on the storage host that holds the data of a
	// GlusterFS volume. Default "/srv/gpucluster/home". It is kept when the
	// environment is destroyed, except in the lab.
	Brick string `yaml:"brick,omitempty" json:"brick,omitempty"`
}
