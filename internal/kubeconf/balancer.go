package kubeconf

// LocalEndpoint is the endpoint of a cluster whose hosts each have a balancer of
// their own: HAProxy listens there, and leads to the control planes that work.
// It needs neither an address that moves, and with it one network for all control
// planes, nor a machine that is not part of the cluster.
const LocalEndpoint = "127.0.0.1:6444"

const (
	// BalancerUnit is the systemd unit of a host's balancer, without its suffix.
	BalancerUnit = "gpucluster-api"
	// BalancerPath is its configuration.
	BalancerPath = Dir + "/haproxy.cfg"

	balancerUnitPath = "/usr/local/lib/systemd/system/" + BalancerUnit + ".service"
)

// Balanced reports whether every host has a balancer of its own.
func (c Cluster) Balanced() bool { return c.Endpoint == LocalEndpoint }

// balancer renders what every host of a balanced cluster has.
func (w *writer) balancer(c Cluster) []File {
	if !c.Balanced() {
		return nil
	}
	return []File{w.file(BalancerPath, "haproxy.cfg", c), w.file(balancerUnitPath, "balancer.service", c)}
}
