package nodes

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"sextant/schema/tasks"
)

// MaxBytes bounds an encoded document.
const MaxBytes = 512 << 10

// Key is the key of the node's records.
func Key(cluster, node string) []byte { return []byte(cluster + "/" + node) }

// Seal sets the version and the hash of the content.
func (n *Node) Seal() error {
	n.Version = Version
	content := *n
	content.Collected, content.Since, content.Hash = 0, 0, ""
	b, err := json.Marshal(&content)
	if err != nil {
		return fmt.Errorf("node %s: %w", n.Node, err)
	}
	sum := sha256.Sum256(b)
	n.Hash = hex.EncodeToString(sum[:16])
	return nil
}

// Encode checks the document and returns its bytes.
func (n *Node) Encode() ([]byte, error) {
	if err := n.Check(); err != nil {
		return nil, fmt.Errorf("node %s: %w", n.Node, err)
	}
	b, err := json.Marshal(n)
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", n.Node, err)
	}
	if len(b) > MaxBytes {
		return nil, fmt.Errorf("node %s: %d bytes, the limit is %d", n.Node, len(b), MaxBytes)
	}
	return b, nil
}

// Decode reads a document and checks it. Every error is permanent: the same bytes fail
// again.
func Decode(b []byte) (*Node, error) {
	if len(b) > MaxBytes {
		return nil, fmt.Errorf("node: %d bytes, the limit is %d", len(b), MaxBytes)
	}
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, fmt.Errorf("node: %w", err)
	}
	if head.Version != Version {
		return nil, fmt.Errorf("node: version %d, this program reads %d", head.Version, Version)
	}
	n := &Node{}
	if err := json.Unmarshal(b, n); err != nil {
		return nil, fmt.Errorf("node: %w", err)
	}
	if err := n.Check(); err != nil {
		return nil, fmt.Errorf("node: %w", err)
	}
	return n, nil
}

// Amounts are quantities as numbers, under the canonical names of schema/tasks, so that
// what a node has and what tasks ask for compare; two names of one thing are added.
func Amounts(quantities map[string]string) map[string]float64 {
	out := make(map[string]float64, len(quantities))
	for name, q := range quantities {
		if v, err := tasks.Quantity(q); err == nil { // Check has seen them all
			out[tasks.Canonical(name)] += v
		}
	}
	return out
}
