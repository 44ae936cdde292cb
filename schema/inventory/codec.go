package inventory

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxBytes bounds an encoded document. It leaves room below the largest Kafka record.
const MaxBytes = 512 << 10

// Seal sets the version and the hash of the content.
func (d *Document) Seal() error {
	d.Version = Version
	content := *d
	content.Collected, content.Since, content.Hash = 0, 0, ""
	b, err := json.Marshal(&content)
	if err != nil {
		return fmt.Errorf("inventory of %s: %w", d.Node, err)
	}
	sum := sha256.Sum256(b)
	d.Hash = hex.EncodeToString(sum[:16])
	return nil
}

// Encode checks the document and returns its bytes.
func (d *Document) Encode() ([]byte, error) {
	if err := d.Check(); err != nil {
		return nil, fmt.Errorf("inventory of %s: %w", d.Node, err)
	}
	b, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("inventory of %s: %w", d.Node, err)
	}
	if len(b) > MaxBytes {
		return nil, fmt.Errorf("inventory of %s: %d bytes, the limit is %d", d.Node, len(b), MaxBytes)
	}
	return b, nil
}

// Decode reads a document and checks it. Every error is permanent: the same bytes fail
// again.
func Decode(b []byte) (*Document, error) {
	if len(b) > MaxBytes {
		return nil, fmt.Errorf("inventory: %d bytes, the limit is %d", len(b), MaxBytes)
	}
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, fmt.Errorf("inventory: %w", err)
	}
	if head.Version != Version {
		return nil, fmt.Errorf("inventory: version %d, this program reads %d", head.Version, Version)
	}
	d := &Document{}
	dec := json.NewDecoder(bytes.NewReader(b))
	if err := dec.Decode(d); err != nil {
		return nil, fmt.Errorf("inventory: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("inventory: something follows the document")
	}
	if err := d.Check(); err != nil {
		return nil, fmt.Errorf("inventory: %w", err)
	}
	return d, nil
}
