package gpuoperator

import (
	"encoding/json"
	"fmt"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeobject"
)

// The Network Operator that is installed.
const (
	// NetworkChartVersion is the release of the chart whose values [NetworkValues]
	// writes.
	NetworkChartVersion = "26.4.1"
	// NetworkReleaseName is that of the chart, NetworkNamespace where it runs.
	NetworkReleaseName = "network-operator"
	NetworkNamespace   = "nvidia-network-operator"

	// AdapterResource is what pods ask for that use an adapter.
	AdapterResource = "rdma/fabric"

	networkImages = "nvcr.io/nvidia/mellanox"
	networkTag    = "network-operator-v" + NetworkChartVersion
	// podsAnAdapter is how many pods a host's adapters serve at once.
	podsAnAdapter = 63
	// nvidiaAdapters is the vendor's number on the bus.
	nvidiaAdapters = "15b3"
)

// NetworkValues are those of the Network Operator's chart. They are nil where pods
// use no adapters. It fails with [problem.List].
func NetworkValues(c Cluster) (map[string]any, error) {
	if problems := Check(c); len(problems) > 0 {
		return nil, problems
	}
	if c.Adapters == nil {
		return nil, nil
	}
	return map[string]any{
		// The definitions are renewed by a step of ours, before the chart.
		"upgradeCRDs": false,
		"nfd": map[string]any{
			"enabled": c.features() == FeaturesNetwork,
			// Whoever's discovery it is: without these rules no host has the label by
			// which the operator finds adapters.
			"deployNodeFeatureRules": true,
		},
		"node-feature-discovery": map[string]any{"worker": map[string]any{
			"tolerations": append([]toleration{{Key: controlPlane, Operator: "Exists", Effect: "NoSchedule"}}, c.tolerations()...),
			"config":      discovery,
		}},
		"sriovNetworkOperator": map[string]any{"enabled": false},
		"maintenanceOperator":  map[string]any{"enabled": false},
	}, nil
}

// image names one of the Network Operator's.
type image struct {
	Image      string `json:"image"`
	Repository string `json:"repository"`
	Version    string `json:"version"`
}

// AdapterPlugin is the device plugin for shared adapters.
type AdapterPlugin struct {
	image
	// Config is the plugin's own file.
	Config string `json:"config"`
}

// AdapterDriver installs DOCA-OFED on hosts.
type AdapterDriver struct {
	image
	UpgradePolicy AdapterUpgrade `json:"upgradePolicy"`
}

// AdapterUpgrade says how hosts get another driver.
type AdapterUpgrade struct {
	AutoUpgrade bool `json:"autoUpgrade"`
}

// NicPolicySpec is a NicClusterPolicy's.
type NicPolicySpec struct {
	OFEDDriver             *AdapterDriver `json:"ofedDriver,omitempty"`
	RDMASharedDevicePlugin AdapterPlugin  `json:"rdmaSharedDevicePlugin"`
	Tolerations            []toleration   `json:"tolerations"`
}

// nicPolicy is the only NicClusterPolicy of a cluster, of a name that the operator
// expects.
func (c Cluster) nicPolicy() (kubeobject.Object, error) {
	type selectors struct {
		Vendors []string `json:"vendors"`
		IfNames []string `json:"ifNames,omitempty"`
	}
	type resource struct {
		ResourceName string    `json:"resourceName"`
		RDMAHcaMax   int       `json:"rdmaHcaMax"`
		Selectors    selectors `json:"selectors"`
	}
	config, err := json.Marshal(map[string][]resource{"configList": {{"fabric", podsAnAdapter, selectors{[]string{nvidiaAdapters}, c.Adapters.Interfaces}}}})
	if err != nil {
		return kubeobject.Object{}, fmt.Errorf("writing the adapters' plugin: %w", err)
	}
	spec := NicPolicySpec{
		RDMASharedDevicePlugin: AdapterPlugin{image{"k8s-rdma-shared-dev-plugin", networkImages, networkTag}, string(config)},
		Tolerations:            c.tolerations(),
	}
	if c.Adapters.DriverVersion != "" {
		// Another driver takes adapters from running jobs: not by itself.
		spec.OFEDDriver = &AdapterDriver{image{"doca-driver", networkImages, c.Adapters.DriverVersion}, AdapterUpgrade{false}}
	}
	return kubeobject.Object{APIVersion: "mellanox.com/v1alpha1", Kind: "NicClusterPolicy",
		Metadata: kubeobject.Meta{Name: "nic-cluster-policy", Labels: kubeobject.Labels()}, Spec: spec}, nil
}
