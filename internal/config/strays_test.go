package config

import (
	"slices"
	"strings"
	"testing"
	"time"
)

type secured struct {
	Conf conf `yaml:",inline"`
	TLS  *struct {
		CA     string   `yaml:"ca_file"`
		Server string   `yaml:"server"`
		Wait   Duration `yaml:"wait"`
	} `yaml:"tls"`
	Jobs []struct{ Name string } `yaml:"jobs"`
}

func TestStraysAreNamedWithTheNearestKey(t *testing.T) {
	environ := []string{
		"PATH=/bin", "SXY_COUNT=1", "SX=1", // not of this program
		"SX_KAFKA_BROKERS=a", "SX_COUNT=1", "SX_TLS_CA_FILE=f", // keys
		"SX_CONFIG=f", "SX_SPOOL_DIR=d", "SX_NODE=n", // known otherwise
		"SX_KAFKA_BROKER=a", "SX_TLS_CAFILE=f", "SX_JOBS=a", "SX_NODES=n", "SX_SPOOL=d",
	}
	others, err := Strays("SX", environ, &secured{}, Variables{Own: []string{"CONFIG"}, Others: []string{"NODE", "SPOOL_"}})
	if !slices.Equal(others, []string{"SX_NODE", "SX_SPOOL_DIR"}) {
		t.Errorf("others are %v", others)
	}
	if err == nil {
		t.Fatal("a variable that nobody reads passed")
	}
	want := []string{
		"environment SX_JOBS: no key has this variable; the nearest is SX_ON",
		"environment SX_KAFKA_BROKER: no key has this variable; the nearest is SX_KAFKA_BROKERS",
		"environment SX_NODES: no key has this variable; the nearest is SX_NAME",
		"environment SX_SPOOL: no key has this variable; the nearest is SX_ON",
		"environment SX_TLS_CAFILE: no key has this variable; the nearest is SX_TLS_CA_FILE",
	}
	if got := strings.Split(err.Error(), "\n"); !slices.Equal(got, want) {
		t.Errorf("got\n%s", err)
	}
}

// Every variable that Strays takes for a key, Environ stores: in a section that no file
// gave as well.
func TestEveryKeyCanBeSetByItsVariable(t *testing.T) {
	var looked []string
	var c secured
	err := Environ("SX", &c, func(name string) (string, bool) {
		looked = append(looked, name)
		return "", false
	})
	if err != nil || c.TLS != nil {
		t.Fatalf("without a variable: %+v, %v", c.TLS, err)
	}
	for _, name := range Keys("SX", &c) {
		if !slices.Contains(looked, name) {
			t.Errorf("%s is a key, and Environ does not look it up", name)
		}
	}
	err = Environ("SX", &c, func(name string) (string, bool) {
		s, ok := map[string]string{"SX_TLS_CA_FILE": "ca", "SX_TLS_WAIT": "2s", "SX_KAFKA_WAIT": "3s"}[name]
		return s, ok
	})
	if err != nil || c.TLS == nil || c.TLS.CA != "ca" || c.TLS.Wait.D() != 2*time.Second || c.Conf.Kafka.Wait.D() != 3*time.Second {
		t.Errorf("%+v, %v", c, err)
	}
}
