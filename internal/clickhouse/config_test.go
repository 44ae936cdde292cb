package clickhouse

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDefaultConfigsAreValid(t *testing.T) {
	if err := DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
	if err := DefaultSinkConfig().Validate(); err != nil {
		t.Error(err)
	}
}

func TestValidateReportsEveryFault(t *testing.T) {
	c := DefaultConfig()
	c.Addr = []string{"127.0.0.1:9000", "nowhere", ":9000", "h:70000"}
	c.Protocol, c.Compression, c.Database, c.Cluster = "grpc", "gzip", "a`b", "x y"
	c.DialTimeout, c.ReadTimeout, c.MaxConns = 0, -1, 3
	c.TLS = TLSConfig{CertFile: "a"}
	c.Retention.SamplesDays = -1
	err := c.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"addr[1]: ", "addr[2]: ", "addr[3]: ", `protocol: "grpc"`, `compression: "gzip"`, "database: ", "cluster: ",
		"dial_timeout: ", "read_timeout: ", "max_conns: 3", "tls.cert_file: ", "tls.enabled: ", "retention.samples_days: -1"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "addr[0]") {
		t.Errorf("addr[0] is right: %v", err)
	}
	s := SinkConfig{MinRows: 5}
	if err := s.Validate(); err == nil || strings.Count(err.Error(), "\n") != 4 {
		t.Errorf("five faults of a sink: %v", err)
	}
}

func TestPasswordNeedsTLSBeyondThisHost(t *testing.T) {
	for _, tc := range []struct {
		addr string
		tls  bool
		ok   bool
	}{{"127.0.0.1:9000", false, true}, {"localhost:9000", false, true}, {"ch.example.net:9440", true, true}, {"ch.example.net:9000", false, false}} {
		c := DefaultConfig()
		c.Addr, c.PasswordFile, c.TLS.Enabled = []string{tc.addr}, "password", tc.tls
		err := c.Validate()
		if (err == nil) != tc.ok || err != nil && !strings.Contains(err.Error(), "tls.enabled: a password") {
			t.Errorf("%s, tls %v: %v", tc.addr, tc.tls, err)
		}
	}
}

func TestSecretsComeFromFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	c := DefaultConfig()
	c.PasswordFile = file("password", " s3cret\n")
	o, err := c.options()
	if err != nil || o.Auth.Password != "s3cret" || o.TLS != nil {
		t.Errorf("password %q, tls %v, %v", o.Auth.Password, o.TLS, err)
	}
	for _, f := range []struct {
		want   string
		change func(*Config)
	}{
		{"password_file: open " + dir + "/none", func(c *Config) { c.PasswordFile = dir + "/none" }},
		{"password_file: " + dir + "/big is larger than 1048576 bytes", func(c *Config) { c.PasswordFile = file("big", strings.Repeat("x", 1<<20+1)) }},
		{"tls.ca_file: " + dir + "/ca holds no certificate", func(c *Config) { c.TLS = TLSConfig{Enabled: true, CAFile: file("ca", "no pem")} }},
		{"tls.cert_file: open " + dir + "/none", func(c *Config) {
			c.TLS = TLSConfig{Enabled: true, CertFile: dir + "/none", KeyFile: dir + "/none"}
		}},
	} {
		c := DefaultConfig()
		f.change(&c)
		if _, err := c.options(); err == nil || !strings.Contains(err.Error(), f.want) {
			t.Errorf("%v, want %q", err, f.want)
		}
	}
}

func TestAutoCompression(t *testing.T) {
	for _, c := range []struct {
		want string
		addr []string
	}{
		{"none", []string{"127.0.0.1:1", "localhost:2", "[::1]:3"}},
		{"lz4", []string{"127.0.0.1:1", "10.0.0.1:9000"}},
		{"lz4", []string{"clickhouse:9000"}},
	} {
		conf := DefaultConfig()
		conf.Addr = c.addr
		if got := conf.compression(); got != c.want {
			t.Errorf("%v: %s, want %s", c.addr, got, c.want)
		}
	}
}
