package broker

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// lockDir takes the directory for this process. Two brokers on one directory would write
// over each other's segments, and kfake does not look. The kernel drops the lock when the
// process dies, however it dies.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "LOCK"), os.O_CREATE|os.O_RDWR, 0o640)
	if err != nil {
		return nil, fmt.Errorf("embedded broker: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = errors.New("another process has it open")
		}
		return nil, fmt.Errorf("embedded broker: lock %s: %w", dir, err)
	}
	return f, nil
}

// listenAddr reads a host:port and insists on loopback: the broker has no login.
func listenAddr(addr string) (host string, port int, err error) {
	if addr == "" {
		return "127.0.0.1", 0, nil
	}
	host, p, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, fmt.Errorf("embedded broker: address %q: want host:port", addr)
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return "", 0, fmt.Errorf("embedded broker: address %q: only a loopback address, as there is no login", addr)
	}
	port, err = strconv.Atoi(p)
	if err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("embedded broker: address %q: port is not in 0..65535", addr)
	}
	return host, port, nil
}

// listenOn makes kfake, which knows ports only, listen on host.
func listenOn(host string) func(network, addr string) (net.Listener, error) {
	return func(network, addr string) (net.Listener, error) {
		_, port, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, err
		}
		return net.Listen(network, net.JoinHostPort(host, port))
	}
}
