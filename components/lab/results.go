package lab

import (
	"encoding/json"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/internal/lab"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/labstep"
)

// splitKey takes the key step's result apart. The public half is no secret.
func splitKey(result pulumi.StringOutput) (private, public pulumi.StringOutput) {
	private = pulumi.ToSecret(result.ApplyT(func(text string) (string, error) {
		pair, err := labstep.ReadKey(text)
		return pair.Private, err
	})).(pulumi.StringOutput)
	public = pulumi.Unsecret(result.ApplyT(func(text string) (string, error) {
		pair, err := labstep.ReadKey(text)
		return pair.Public, err
	})).(pulumi.StringOutput)
	return private, public
}

// splitHost takes a host step's result apart.
func splitHost(result pulumi.StringOutput) (address, hostKey pulumi.StringOutput) {
	address = result.ApplyT(func(text string) (string, error) {
		info, err := labstep.ReadHost(text)
		return info.Address, err
	}).(pulumi.StringOutput)
	hostKey = result.ApplyT(func(text string) (string, error) {
		info, err := labstep.ReadHost(text)
		return info.HostKey, err
	}).(pulumi.StringOutput)
	return address, hostKey
}

func subnet(result pulumi.StringOutput) pulumi.StringOutput {
	return result.ApplyT(func(text string) (string, error) {
		var info lab.NetworkInfo
		if err := json.Unmarshal([]byte(text), &info); err != nil {
			return "", fmt.Errorf("reading the result of the lab's network: %w", err)
		}
		return info.Subnet, nil
	}).(pulumi.StringOutput)
}
