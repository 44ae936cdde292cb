package kafka

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kversion"
)

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestValidateReportsEveryFault(t *testing.T) {
	err := Config{
		Brokers:  []string{"a:9092", "b", ":1", "c:99999"},
		ClientID: "two words",
		TLS:      &TLSConfig{CAFile: write(t, "ca", "no pem"), KeyFile: "/key"},
		SASL:     &SASLConfig{Mechanism: "GSSAPI", PasswordFile: write(t, "pw", "\n")},
	}.Validate()
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		"brokers[1]: \"b\": want host:port", "brokers[2]: \":1\": host is missing", "brokers[3]: \"c:99999\": port",
		"client_id:", "tls.ca_file:", "no PEM certificate", "tls.cert_file: missing", "sasl.username: missing",
		"sasl.password_file:", "sasl.mechanism: \"GSSAPI\" is not",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in:\n%v", want, err)
		}
	}
}

func TestValidate(t *testing.T) {
	pw := write(t, "pw", "secret word\n")
	for name, c := range map[string]struct {
		cfg  Config
		want string // of the error; empty for none
	}{
		"plain text":         {Config{Brokers: []string{"127.0.0.1:9092"}}, ""},
		"nothing":            {Config{}, "brokers: at least one"},
		"password on a wire": {Config{Brokers: []string{"k:9092"}, SASL: &SASLConfig{"PLAIN", "u", pw}}, "sasl.mechanism: PLAIN without tls"},
		"loopback password":  {Config{Brokers: []string{"127.0.0.1:9092"}, SASL: &SASLConfig{"PLAIN", "u", pw}}, ""},
		"scram":              {Config{Brokers: []string{"k:9092"}, SASL: &SASLConfig{"SCRAM-SHA-512", "u", pw}}, ""},
		"password gone":      {Config{Brokers: []string{"k:9092"}, SASL: &SASLConfig{"SCRAM-SHA-256", "u", pw + "x"}}, "no such file"},
		"password is a dir":  {Config{Brokers: []string{"k:9092"}, SASL: &SASLConfig{"SCRAM-SHA-256", "u", t.TempDir()}}, "not a regular file"},
	} {
		err := c.cfg.Validate()
		if (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error tells the password: %v", name, err)
		}
	}
}

// cluster is a bare kfake: for logins, old versions and several brokers.
func cluster(t *testing.T, opts ...kfake.Opt) []string {
	t.Helper()
	c, err := kfake.NewCluster(append(opts, kfake.DefaultNumPartitions(1), kfake.SeedTopics(1, "t"))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c.ListenAddrs()
}

// certificate returns files of a self-signed certificate for 127.0.0.1, and the server's
// configuration with it.
func certificate(t *testing.T) (caFile string, server *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	caFile = write(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	return caFile, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

// Every login must carry a record through both of kafka-go's connection paths: the
// transport (produce, fetch) and the dialer (the group).
func TestLogins(t *testing.T) {
	ca, server := certificate(t)
	otherCA, _ := certificate(t)
	pw, wrong := write(t, "pw", "open sesame\n"), write(t, "wrong", "close sesame")
	secure := &TLSConfig{CAFile: ca}
	for name, c := range map[string]struct {
		mechanism string
		tls       *TLSConfig
		password  string
		want      string
	}{
		"plain":          {"PLAIN", secure, pw, ""},
		"scram 256":      {"SCRAM-SHA-256", secure, pw, ""},
		"scram 512":      {"SCRAM-SHA-512", secure, pw, ""},
		"wrong password": {"SCRAM-SHA-512", secure, wrong, "wrong login"},
		"wrong ca":       {"SCRAM-SHA-512", &TLSConfig{CAFile: otherCA}, pw, "certificate"},
		"no tls":         {"SCRAM-SHA-512", nil, pw, "TLS on one side only"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := Config{
				Brokers: cluster(t, kfake.NumBrokers(1), kfake.EnableSASL(), kfake.TLS(server), kfake.Superuser(c.mechanism, "ann", "open sesame")),
				TLS:     c.tls, SASL: &SASLConfig{c.mechanism, "ann", c.password},
			}
			err := Ping(t.Context(), cfg)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), cfg.Brokers[0]) {
					t.Errorf("ping: %v, want %q and the address", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			p, err := NewProducer(cfg, ProducerOptions{Topic: "t"})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if err := p.Send(t.Context(), []Message{{Key: []byte("k"), Value: []byte("v")}})[0]; err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			var got string
			err = Consume(ctx, cfg, ConsumerOptions{Group: "g", Topic: "t"}, func(ctx context.Context, p *Partition) error {
				for {
					rs, err := p.Fetch(ctx)
					if len(rs) > 0 {
						got = string(rs[0].Value)
						cancel()
					}
					if err != nil {
						return err
					}
				}
			})
			if err != nil || got != "v" {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestPingSaysWhatIsWrong(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := l.Addr().String()
	l.Close()
	err = Ping(t.Context(), Config{Brokers: []string{gone, "no-such-host.invalid:9092"}})
	for _, want := range []string{"no Kafka broker answers", gone + ": ", "connection refused", "no-such-host.invalid:9092: "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	old := cluster(t, kfake.NumBrokers(1), kfake.MaxVersions(kversion.V2_2_0()))
	if err := Ping(t.Context(), Config{Brokers: old}); err == nil || !strings.Contains(err.Error(), old[0]+": the broker is older than Kafka 2.3") {
		t.Errorf("an old broker: %v", err)
	}
	if err := Ping(t.Context(), Config{Brokers: append([]string{gone}, cluster(t, kfake.NumBrokers(1))...)}); err != nil {
		t.Errorf("one of two brokers is away: %v", err)
	}
}
