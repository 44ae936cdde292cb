package dcgm

import (
	"context"
	"fmt"
	"net"
	"time"
)

// answers reports whether something accepts connections at the address. It is asked
// before the library, which leaks a little with each connection that it cannot make, and
// whose own errors do not name the address.
func answers(address string) error {
	network := "tcp"
	if socket(address) {
		network = "unix"
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return fmt.Errorf("host engine at %s does not answer: %w", address, err)
	}
	return conn.Close()
}

// alone refuses when another engine answers at any of the addresses. Two engines on a
// host fight over the profiling hardware and can dead-lock.
func alone(addresses ...string) error {
	for _, a := range addresses {
		if a != "" && answers(a) == nil {
			return fmt.Errorf("embedded engine refused: a host engine answers at %s; connect to it instead (embedded: false)", a)
		}
	}
	return nil
}
