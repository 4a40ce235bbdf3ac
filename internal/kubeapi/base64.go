package kubeapi

import (
	encoding "encoding/base64"

	"go.yaml.in/yaml/v3"
)

// base64 is bytes that a file has as base64.
type base64 []byte

// UnmarshalYAML decodes the text.
func (b *base64) UnmarshalYAML(node *yaml.Node) error {
	decoded, err := encoding.StdEncoding.DecodeString(node.Value)
	*b = decoded
	return err
}
