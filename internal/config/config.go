// Package config reads a component's configuration: one YAML file, decoded strictly over
// the defaults that the caller's struct already holds, then overridden from the
// environment, then checked. Every fault is reported at once, with file and line or with
// the path of the key.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// MaxBytes is the size of the largest configuration file that is read.
const MaxBytes = 4 << 20

// Checker is a configuration that can judge itself. Check returns every fault, joined,
// each beginning with the path of its key.
type Checker interface{ Check() error }

// Load fills into from the file at path (none when path is empty), then from environment
// variables that begin with prefix, and checks it. into holds the defaults.
func Load(path, prefix string, into Checker) error {
	if path != "" {
		data, err := readLimited(path)
		if err != nil {
			return err
		}
		if err := Decode(path, data, into); err != nil {
			return err
		}
	}
	if err := Environ(prefix, into, os.LookupEnv); err != nil {
		return err
	}
	if err := into.Check(); err != nil {
		if path == "" {
			return fmt.Errorf("configuration:\n%w", err)
		}
		return fmt.Errorf("%s:\n%w", path, err)
	}
	return nil
}

// Decode reads YAML strictly: an unknown or repeated key, a wrong type and a second
// document are errors. Each line of the error begins with name:line.
func Decode(name string, data []byte, into any) error {
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil && !errors.Is(err, io.EOF) {
		return located(name, err)
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: more than one YAML document", name)
	}
	return nil
}

var (
	atLine       = regexp.MustCompile(`^(?:yaml: )?line (\d+): (.*)$`)
	unknownField = regexp.MustCompile(`field (\S+) not found in type \S+`)
)

// located turns the decoder's "line 3: …" into "name:3: …", and its words about Go types
// into words about keys.
func located(name string, err error) error {
	lines := []string{err.Error()}
	if te := (*yaml.TypeError)(nil); errors.As(err, &te) {
		lines = lines[:0]
		for _, e := range te.Errors {
			lines = append(lines, fmt.Sprint(e))
		}
	}
	for i, l := range lines {
		l = unknownField.ReplaceAllString(l, `unknown key "$1"`)
		if m := atLine.FindStringSubmatch(l); m != nil {
			lines[i] = name + ":" + m[1] + ": " + m[2]
		} else {
			lines[i] = name + ": " + strings.TrimPrefix(l, "yaml: ")
		}
	}
	return errors.New(strings.Join(lines, "\n"))
}

func readLimited(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("%s: larger than %d bytes", path, MaxBytes)
	}
	return data, nil
}
