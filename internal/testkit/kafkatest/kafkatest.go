// Package kafkatest starts Kafka brokers for tests: Apache Kafka by scripts/kafka.sh.
package kafkatest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// Apache is a running Apache Kafka of one node on loopback.
type Apache struct {
	dir, script string
	port        int
}

// StartApache fetches Apache Kafka if it is not in the cache, and starts it on new ports
// and a new directory below dir. The caller calls Stop.
func StartApache(dir string) (*Apache, error) {
	return StartApacheWith(dir, func(Ports) string { return "" })
}

// Ports of a broker on loopback. Internal is free for a listener of the broker's own.
type Ports struct{ Client, Controller, Internal int }

// StartApacheWith is StartApache with broker settings, in the syntax of server.properties,
// that are added to the usual ones and override them. The last of advertised.listeners
// must be the clients'.
func StartApacheWith(dir string, properties func(Ports) string) (*Apache, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	a := &Apache{dir: filepath.Join(dir, "kafka"), script: filepath.Join(root, "scripts", "kafka.sh")}
	ports, err := FreePorts(3)
	if err != nil {
		return nil, err
	}
	a.port = ports[0]
	if err := a.run("fetch"); err != nil {
		return nil, err
	}
	if extra := properties(Ports{ports[0], ports[1], ports[2]}); extra != "" {
		if err := os.MkdirAll(a.dir, 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(a.dir, "extra.properties"), []byte(extra), 0o600); err != nil {
			return nil, err
		}
	}
	return a, a.run("start", a.dir, strconv.Itoa(ports[0]), strconv.Itoa(ports[1]))
}

// Addr returns the broker's host:port. It stays the same over restarts.
func (a *Apache) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(a.port)) }

// Kill9 ends the broker as a crash would.
func (a *Apache) Kill9() error { return a.run("kill9", a.dir) }

// Start starts the broker again on the same data, and returns when it serves.
func (a *Apache) Start() error { return a.run("start", a.dir) }

// Stop ends the broker.
func (a *Apache) Stop() error { return a.run("kill9", a.dir) }

func (a *Apache) run(args ...string) error {
	var out bytes.Buffer
	cmd := exec.Command(a.script, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Env = append(os.Environ(), "SEXTANT_KAFKA_OWNER="+strconv.Itoa(os.Getpid()))
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("kafka.sh %s: %w: %s", args[0], err, out.Bytes())
	}
	return nil
}

// moduleRoot finds the folder of go.mod, above the package under test.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if filepath.Dir(dir) == dir {
			return "", fmt.Errorf("no go.mod above %s", dir)
		}
		dir = filepath.Dir(dir)
	}
}

// FreePorts returns ports that nobody listens on now. They lie below the range from which
// the kernel takes the ports of outgoing connections: one of those could sit on the port
// while the broker is down, as the broker's own clients try to reach it.
func FreePorts(n int) ([]int, error) {
	const first, last, tries = 20000, 32000, 100
	var ports []int
	for range tries {
		port := first + rand.IntN(last-first)
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		defer l.Close()
		if ports = append(ports, port); len(ports) == n {
			return ports, nil
		}
	}
	return nil, fmt.Errorf("no %d free ports in %d..%d", n, first, last)
}
