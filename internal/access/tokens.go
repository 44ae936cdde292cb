package access

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// Bounds of a token, in bytes: shorter ones can be guessed.
const (
	MinToken = 16
	MaxToken = 4096

	maxFile = 1 << 20 // bytes of a token file
)

// callers are those of one reading of a token file.
type callers struct {
	byToken map[[sha256.Size]byte]*Caller // by the hash of the token
	byName  map[string]*Caller            // by the common name of a client certificate
}

// tokenFile is a token file of several callers.
type tokenFile struct {
	Tokens  []callerFile `yaml:"tokens"`
	Clients []callerFile `yaml:"clients"`
}

type callerFile struct {
	Name       string   `yaml:"name"`
	SHA256     string   `yaml:"sha256"`      // hex, of the token; only of tokens
	CommonName string   `yaml:"common_name"` // of the subject of the certificate; only of clients
	Scopes     []string `yaml:"scopes"`
	Rate       float64  `yaml:"rate"` // requests a second; 0: that of the listener
}

// ofCallers is how YAML with named callers begins, unlike a token.
var ofCallers = regexp.MustCompile(`(?m)^(tokens|clients):`)

// readCallers reads a token file: one word, which is the token of a caller that may do
// everything, or YAML with named callers. No error repeats what may be a token.
func readCallers(file string, rate float64) (*callers, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	cs := &callers{byToken: map[[sha256.Size]byte]*Caller{}, byName: map[string]*Caller{}}
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s: larger than %d bytes", file, maxFile)
	}
	if text = bytes.TrimSpace(text); !ofCallers.Match(text) {
		if err := checkWord(text); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		cs.byToken[sha256.Sum256(text)] = &Caller{Name: "token", scopes: []Scope{{Action: Admin}}, meter: newMeter(rate)}
		return cs, nil
	}
	var parsed tokenFile
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if dec.Decode(&parsed) != nil { // the error may hold the token
		return nil, fmt.Errorf("%s: want one token, or YAML with the lists tokens and clients of name, sha256 or common_name, scopes and rate", file)
	}
	if err := cs.add(parsed, rate); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return cs, nil
}

func checkWord(token []byte) error {
	if len(token) < MinToken || len(token) > MaxToken {
		return fmt.Errorf("want %d to %d bytes", MinToken, MaxToken)
	}
	if bytes.ContainsAny(token, " \t\r\n") {
		return errors.New("want one word")
	}
	return nil
}

// add takes the callers of a file, and reports every fault at once.
func (cs *callers) add(f tokenFile, rate float64) error {
	var faults []error
	names := map[string]bool{}
	for i, c := range f.Tokens {
		caller, err := c.caller(names, rate)
		hash, bad := hex.DecodeString(c.SHA256)
		var key [sha256.Size]byte
		copy(key[:], hash)
		switch {
		case err == nil && (bad != nil || len(hash) != len(key) || c.CommonName != ""):
			err = errors.New("sha256: want the 64 hex digits of the token's hash, as sha256sum prints them, and no common_name")
		case err == nil && cs.byToken[key] != nil:
			err = fmt.Errorf("sha256: that of %s too", cs.byToken[key].Name)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("tokens[%d].%w", i, err))
			continue
		}
		cs.byToken[key] = caller
	}
	for i, c := range f.Clients {
		caller, err := c.caller(names, rate)
		switch {
		case err == nil && (c.CommonName == "" || c.SHA256 != ""):
			err = errors.New("common_name: want that of the client certificate's subject, and no sha256")
		case err == nil && cs.byName[c.CommonName] != nil:
			err = fmt.Errorf("common_name: that of %s too", cs.byName[c.CommonName].Name)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("clients[%d].%w", i, err))
			continue
		}
		cs.byName[c.CommonName] = caller
	}
	if len(f.Tokens)+len(f.Clients) == 0 {
		faults = append(faults, errors.New("tokens: want at least one caller"))
	}
	return errors.Join(faults...)
}

var callerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

func (f callerFile) caller(names map[string]bool, rate float64) (*Caller, error) {
	switch {
	case !callerName.MatchString(f.Name):
		return nil, fmt.Errorf("name: %q: want letters, digits, dots and dashes, up to 63", f.Name)
	case names[f.Name]:
		return nil, fmt.Errorf("name: %s is there twice", f.Name)
	case len(f.Scopes) == 0:
		return nil, fmt.Errorf("scopes: %s has none", f.Name)
	case f.Rate < 0:
		return nil, fmt.Errorf("rate: %g is below 0", f.Rate)
	}
	names[f.Name] = true
	if f.Rate > 0 {
		rate = f.Rate
	}
	c := &Caller{Name: f.Name, meter: newMeter(rate)}
	for _, text := range f.Scopes {
		action, on, named := strings.Cut(text, ":")
		if !slices.Contains(actions, action) || named && (on == "" || action == Admin) {
			return nil, fmt.Errorf("scopes: %q: want read, read:SERVICE, push, push:VIEW or admin", text)
		}
		c.scopes = append(c.scopes, Scope{action, on})
	}
	return c, nil
}
