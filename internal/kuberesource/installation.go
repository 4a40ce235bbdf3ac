package kuberesource

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Installation tells one installation of a chart from another: its version, and a
// digest of all that it is made of.
func Installation(version string, made any) (string, error) {
	text, err := json.Marshal(made)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return version + " " + hex.EncodeToString(sum[:6]), nil
}

// Place is where a site has charts, as [Chart] and [Hosted] take it; nothing is "".
func Place(charts pulumi.StringInput) pulumi.StringInput {
	if charts == nil {
		return pulumi.String("")
	}
	return charts
}
