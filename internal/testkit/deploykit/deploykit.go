// Package deploykit makes the files below deploy/ usable by tests on this machine: with
// certificates of their own, and their folders in place of those of a container.
package deploykit

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Secrets runs a copy of deploy/secrets.sh below dir and returns the folder that it made.
// root is the path of the repository.
func Secrets(root, dir string) (string, error) {
	script, err := os.ReadFile(filepath.Join(root, "deploy", "secrets.sh"))
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "secrets.sh")
	if err := os.WriteFile(path, script, 0o700); err != nil {
		return "", err
	}
	if out, err := exec.Command("bash", path).CombinedOutput(); err != nil {
		return "", fmt.Errorf("secrets.sh: %w: %s", err, out)
	}
	return filepath.Join(dir, "secrets"), nil
}

// Mounted copies a configuration of deploy/compose as its service sees it: its mounts,
// from a path in the container to a file of secrets, are put in its text. It returns the
// copy's path below dir.
func Mounted(file, dir, secrets string, mounts map[string]string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var pairs []string
	for inside, name := range mounts {
		pairs = append(pairs, inside, filepath.Join(secrets, name))
	}
	path := filepath.Join(dir, filepath.Base(file))
	return path, os.WriteFile(path, []byte(strings.NewReplacer(pairs...).Replace(string(text))), 0o600)
}
