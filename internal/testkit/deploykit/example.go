package deploykit

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"sextant/internal/config"
)

// commented is a key of an example that stands behind a "#", because its default is to be
// left out.
var commented = regexp.MustCompile(`(?m)^( *)# ( *[a-z_]+:)( .*)?$`)

// Undocumented returns the keys, as paths, that a configuration of into's type takes from
// the environment and that the example file neither shows nor mentions in a comment.
func Undocumented(example string, into any) ([]string, error) {
	text, err := os.ReadFile(example)
	if err != nil {
		return nil, err
	}
	var shown map[string]any
	if err := yaml.Unmarshal(commented.ReplaceAll(text, []byte("$1$2$3")), &shown); err != nil {
		return nil, fmt.Errorf("%s with its comments: %w", example, err)
	}
	stands := map[string]bool{}
	flatten("", shown, stands)
	var out []string
	for _, key := range config.Keys("X", into) {
		if !stands[strings.TrimPrefix(key, "X_")] {
			out = append(out, strings.ToLower(strings.TrimPrefix(key, "X_")))
		}
	}
	return out, nil
}

// flatten adds the keys of m as environment variables spell them, without prefix.
func flatten(path string, m map[string]any, into map[string]bool) {
	for key, v := range m {
		name := strings.TrimPrefix(path+"_"+strings.ToUpper(key), "_")
		into[name] = true
		if sub, ok := v.(map[string]any); ok {
			flatten(name, sub, into)
		}
	}
}
