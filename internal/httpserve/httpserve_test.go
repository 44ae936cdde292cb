package httpserve

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/crypto/bcrypt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// certificate writes a self-signed pair for 127.0.0.1 and returns a pool that trusts it.
func certificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, BasicConstraintsValid: true, IsCA: true}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	kb, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	save := func(name, typ string, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(&pem.Block{Type: typ, Bytes: b}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	save("cert.pem", "CERTIFICATE", der)
	save("key.pem", "EC PRIVATE KEY", kb)
	pool := x509.NewCertPool()
	c, _ := x509.ParseCertificate(der)
	pool.AddCert(c)
	return pool
}

func webConfig(t *testing.T, dir, text string) string {
	t.Helper()
	p := filepath.Join(dir, "web.yaml")
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestListenerThatLeavesTheHostNeedsTLSAndUsers(t *testing.T) {
	dir := t.TempDir()
	certificate(t, dir)
	const pair = "tls_server_config: {cert_file: cert.pem, key_file: key.pem}\n"
	for _, tc := range []struct{ name, addr, web, want string }{
		{"nothing", "0.0.0.0:0", "", "leaves this host"},
		{"every interface", ":0", "", "leaves this host"},
		{"TLS without users", "0.0.0.0:0", pair, "basic_auth_users"},
		{"users without TLS", "0.0.0.0:0", "basic_auth_users: {a: $2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi}\n", "cert_file"},
		{"unknown key", "127.0.0.1:0", "tls: {}\n", "web config"},
		{"no port", "127.0.0.1", "", "listen address"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := Options{Addr: tc.addr}
			if tc.web != "" {
				o.WebConfig = webConfig(t, dir, tc.web)
			}
			s, err := Listen(o)
			if err == nil {
				s.listener.Close()
				t.Fatal("it listened")
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want it to contain %q", err, tc.want)
			}
		})
	}
}

func TestPortInUseIsNamed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = Listen(Options{Addr: l.Addr().String()})
	if want := "listen on " + l.Addr().String() + ": bind: address already in use"; err == nil || err.Error() != want {
		t.Fatalf("got %v, want %s", err, want)
	}
}

// A page of another site that a browser of this host shows cannot reload or ask.
func TestForeignPagesCannotPost(t *testing.T) {
	s, err := Listen(Options{Addr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})) }()
	defer http.DefaultClient.CloseIdleConnections()
	for _, c := range []struct {
		method, origin string
		want           int
	}{
		{"POST", "https://evil.example", http.StatusForbidden}, {"POST", "http://" + s.Addr(), http.StatusOK},
		{"POST", "", http.StatusOK}, {"GET", "https://evil.example", http.StatusOK},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+s.Addr()+"/-/reload", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if c.origin != "" {
			req.Header.Set("Origin", c.origin)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != c.want {
			t.Errorf("%s from %q: %s", c.method, c.origin, resp.Status)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A listener starts without a word; what goes wrong with its configuration later is told.
func TestRunLogsWarningsOnly(t *testing.T) {
	var logged bytes.Buffer
	cfg := webConfig(t, t.TempDir(), "")
	s, err := Listen(Options{Addr: "127.0.0.1:0", WebConfig: cfg, Log: slog.New(slog.NewTextHandler(&logged, nil))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, http.NotFoundHandler()) }()
	defer http.DefaultClient.CloseIdleConnections()
	get := func() {
		r, err := http.Get("http://" + s.Addr())
		if err != nil {
			t.Error(err)
			return
		}
		r.Body.Close()
	}
	get()
	if logged.Len() > 0 {
		t.Errorf("a start without faults logged:\n%s", logged.String())
	}
	if err := os.WriteFile(cfg, []byte("nope: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	get()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if !strings.Contains(logged.String(), "level=ERROR") || !strings.Contains(logged.String(), "nope") {
		t.Errorf("a configuration that became unreadable logged %q", logged.String())
	}
}

// TestHTTP2 is what gRPC needs: HTTP/2 over TLS, and on loopback without.
func TestHTTP2(t *testing.T) {
	dir := t.TempDir()
	pool := certificate(t, dir)
	plain := new(http.Protocols)
	plain.SetUnencryptedHTTP2(true)
	for _, tc := range []struct {
		scheme, web string
		client      *http.Transport
	}{
		{"http", "", &http.Transport{Protocols: plain}},
		{"https", "tls_server_config: {cert_file: cert.pem, key_file: key.pem}\n", &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}},
	} {
		t.Run(tc.scheme, func(t *testing.T) {
			o := Options{Addr: "127.0.0.1:0"}
			if tc.web != "" {
				o.WebConfig = webConfig(t, dir, tc.web)
			}
			s, err := Listen(o)
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				done <- s.Run(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) }))
			}()
			res, err := (&http.Client{Transport: tc.client}).Get(tc.scheme + "://" + s.Addr())
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			res.Body.Close()
			tc.client.CloseIdleConnections()
			if err != nil || string(body) != "HTTP/2.0" {
				t.Errorf("%s, %v", body, err)
			}
			stop()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRunServesTLSWithUsersAndDrains(t *testing.T) {
	dir := t.TempDir()
	pool := certificate(t, dir)
	hash, err := bcrypt.GenerateFromPassword([]byte("pass"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	cfg := webConfig(t, dir, fmt.Sprintf("tls_server_config: {cert_file: cert.pem, key_file: key.pem}\nbasic_auth_users: {ann: %s}\n", hash))
	s, err := Listen(Options{Addr: "127.0.0.1:0", WebConfig: cfg})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	entered, release := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- s.Run(ctx, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			close(entered)
			<-release
			io.WriteString(w, "hello")
		}))
	}()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	defer client.CloseIdleConnections()
	r, err := client.Get("https://" + s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusUnauthorized {
		t.Fatalf("without a user: %s", r.Status)
	}
	answer := make(chan string, 1)
	go func() {
		req, _ := http.NewRequest("GET", "https://"+s.Addr(), nil)
		req.SetBasicAuth("ann", "pass")
		r, err := client.Do(req)
		if err != nil {
			answer <- err.Error()
			return
		}
		defer r.Body.Close()
		b, _ := io.ReadAll(r.Body)
		answer <- string(b)
	}()
	<-entered
	cancel()
	close(release)
	if a := <-answer; a != "hello" {
		t.Fatalf("a request in flight got %q", a)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
