package kafka

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
)

// Config says where the cluster is and how to log in.
type Config struct {
	Brokers  []string    `yaml:"brokers"`   // host:port of some brokers; the rest is discovered
	ClientID string      `yaml:"client_id"` // shown in the broker's logs and quotas
	TLS      *TLSConfig  `yaml:"tls"`       // nil: plain text
	SASL     *SASLConfig `yaml:"sasl"`      // nil: no login
}

// TLSConfig names files, so that no key stands in a configuration.
type TLSConfig struct {
	CAFile     string `yaml:"ca_file"`     // empty: the system's authorities
	CertFile   string `yaml:"cert_file"`   // client certificate, with KeyFile
	KeyFile    string `yaml:"key_file"`    //
	ServerName string `yaml:"server_name"` // empty: the broker's host name
}

// SASLConfig logs in with a name and the password in a file.
type SASLConfig struct {
	Mechanism    string `yaml:"mechanism"` // PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512
	Username     string `yaml:"username"`
	PasswordFile string `yaml:"password_file"` // its trailing newline is cut off
}

// DefaultClientID is what a broker sees when the configuration names none.
const DefaultClientID = "sextant"

// maxSecretBytes bounds what is read of a file that should hold a key or a password.
const maxSecretBytes = 1 << 20

// Validate returns every fault of c at once, each with the path of its key.
func (c Config) Validate() error {
	var faults []error
	fault := func(path, format string, args ...any) {
		faults = append(faults, fmt.Errorf("%s: "+format, append([]any{path}, args...)...))
	}
	if len(c.Brokers) == 0 {
		fault("brokers", "at least one host:port is needed")
	}
	for i, b := range c.Brokers {
		if err := checkAddr(b); err != nil {
			fault(fmt.Sprintf("brokers[%d]", i), "%q: %w", b, err)
		}
	}
	if len(c.ClientID) > 249 || strings.ContainsFunc(c.ClientID, func(r rune) bool { return r <= ' ' || r > '~' }) {
		fault("client_id", "%q: at most 249 printable characters without spaces", c.ClientID)
	}
	if c.TLS != nil {
		if _, err := c.TLS.load(); err != nil {
			faults = append(faults, err)
		}
	}
	if c.SASL != nil {
		if _, err := c.SASL.load(); err != nil {
			faults = append(faults, err)
		}
		if c.TLS == nil && strings.EqualFold(c.SASL.Mechanism, "PLAIN") && !allLoopback(c.Brokers) {
			fault("sasl.mechanism", "PLAIN without tls would send the password readable")
		}
	}
	return errors.Join(faults...)
}

func checkAddr(s string) error {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return errors.New("want host:port")
	}
	if host == "" {
		return errors.New("host is missing")
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return fmt.Errorf("port %q is not in 1..65535", port)
	}
	return nil
}

func allLoopback(addrs []string) bool {
	for _, a := range addrs {
		host, _, _ := net.SplitHostPort(a)
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return false
		}
	}
	return true
}

// load reads the files. It returns every fault at once.
func (t *TLSConfig) load() (*tls.Config, error) {
	var faults []error
	conf := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CAFile != "" {
		pem, err := readSecret(t.CAFile)
		if err != nil {
			faults = append(faults, fmt.Errorf("tls.ca_file: %w", err))
		} else if conf.RootCAs = x509.NewCertPool(); !conf.RootCAs.AppendCertsFromPEM(pem) {
			faults = append(faults, fmt.Errorf("tls.ca_file: %s: no PEM certificate", t.CAFile))
		}
	}
	switch {
	case t.CertFile == "" && t.KeyFile == "":
	case t.CertFile == "":
		faults = append(faults, errors.New("tls.cert_file: missing beside tls.key_file"))
	case t.KeyFile == "":
		faults = append(faults, errors.New("tls.key_file: missing beside tls.cert_file"))
	default:
		pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			faults = append(faults, fmt.Errorf("tls.cert_file: %w", err))
		}
		conf.Certificates = []tls.Certificate{pair}
	}
	return conf, errors.Join(faults...)
}

// load reads the password. It returns every fault at once.
func (s *SASLConfig) load() (sasl.Mechanism, error) {
	var faults []error
	if s.Username == "" {
		faults = append(faults, errors.New("sasl.username: missing"))
	}
	var password string
	if s.PasswordFile == "" {
		faults = append(faults, errors.New("sasl.password_file: missing"))
	} else if b, err := readSecret(s.PasswordFile); err != nil {
		faults = append(faults, fmt.Errorf("sasl.password_file: %w", err))
	} else if password = strings.TrimRight(string(b), "\r\n"); password == "" {
		faults = append(faults, fmt.Errorf("sasl.password_file: %s: empty", s.PasswordFile))
	}

	algo := scram.SHA512
	switch strings.ToUpper(s.Mechanism) {
	case "PLAIN":
		return plain.Mechanism{Username: s.Username, Password: password}, errors.Join(faults...)
	case "SCRAM-SHA-256":
		algo = scram.SHA256
	case "SCRAM-SHA-512":
	default:
		faults = append(faults, fmt.Errorf("sasl.mechanism: %q is not PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512", s.Mechanism))
	}
	m, err := scram.Mechanism(algo, s.Username, password)
	if err != nil && len(faults) == 0 {
		faults = append(faults, fmt.Errorf("sasl.username: %w", err))
	}
	return m, errors.Join(faults...)
}

func readSecret(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSecretBytes {
		return nil, fmt.Errorf("%s: not a regular file of at most %d bytes", path, maxSecretBytes)
	}
	return os.ReadFile(path)
}
