package scrape

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sextant/collectors/promconfig"
	"sextant/collectors/spool"
	"sextant/schema/wire"
)

// TestTLSAndLogins scrapes an exporter that wants a client certificate and a login, each
// right and each wrong, over real HTTPS.
func TestTLSAndLogins(t *testing.T) {
	mux := http.NewServeMux()
	page := func(path string, ok func(*http.Request) bool) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if !ok(r) {
				http.Error(w, "who are you?", http.StatusUnauthorized)
				return
			}
			w.Header().Set("Content-Type", "text/plain; version=0.0.4")
			fmt.Fprint(w, "a 1\n")
		})
	}
	page("/basic", func(r *http.Request) bool {
		user, password, _ := r.BasicAuth()
		return user == "u" && password == "s3cret"
	})
	page("/bearer", func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer t0ken" })
	page("/open", func(*http.Request) bool { return true })

	dir := t.TempDir()
	srv := httptest.NewUnstartedServer(mux)
	quiet := log.New(io.Discard, "", 0) // of handshakes that fail on purpose
	srv.Config.ErrorLog = quiet
	srv.StartTLS()
	defer srv.Close()
	certificate(t, dir, srv)
	strict := httptest.NewUnstartedServer(mux) // lets in who has the certificate of srv
	strict.Config.ErrorLog = quiet
	strict.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, VerifyPeerCertificate: func(raw [][]byte, _ [][]*x509.Certificate) error {
		if !bytes.Equal(raw[0], srv.Certificate().Raw) {
			return errors.New("a stranger")
		}
		return nil
	}}
	strict.StartTLS()
	defer strict.Close()
	for name, text := range map[string]string{"pw": "s3cret\n", "token": "t0ken\n", "other": "0ther\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	const ca = "tls_config: {ca_file: DIR/cert.pem, server_name: example.com}\n"
	const pair = "tls_config: {ca_file: DIR/cert.pem, server_name: example.com, cert_file: DIR/cert.pem, key_file: DIR/key.pem}\n"
	cases := []struct {
		job, path, more string
		on              *httptest.Server
		wrong           string // empty: it is let in
	}{
		{"authority", "/open", ca, srv, ""},
		{"system_authorities", "/open", "", srv, "certificate signed by unknown authority"},
		{"wrong_name", "/open", "tls_config: {ca_file: DIR/cert.pem, server_name: n.test}\n", srv, "not n.test"},
		{"unverified", "/open", "tls_config: {insecure_skip_verify: true}\n", srv, ""},
		{"basic", "/basic", ca + "basic_auth: {username: u, password_file: DIR/pw}\n", srv, ""},
		{"basic_wrong", "/basic", ca + "basic_auth: {username: u, password_file: DIR/other}\n", srv, "401"},
		{"bearer", "/bearer", ca + "authorization: {credentials_file: DIR/token}\n", srv, ""},
		{"bearer_wrong", "/bearer", ca + "authorization: {credentials_file: DIR/other}\n", srv, "401"},
		{"mutual", "/open", pair, strict, ""},
		{"mutual_without", "/open", ca, strict, "certificate required"},
	}
	sink := newSink()
	s, _ := newScraper(t, sink)
	var jobs []*promconfig.ScrapeConfig
	for _, c := range cases {
		more := strings.ReplaceAll("scheme: https\nmetrics_path: "+c.path+"\n"+c.more, "DIR", dir)
		jobs = append(jobs, jobConfig(t, fmt.Sprintf("job_name: %s\nscrape_interval: 1s\nscrape_timeout: 1s\n%sstatic_configs: [{targets: [%s]}]\n", c.job, more, secureHost(c.on))))
	}
	if err := s.Apply(Set{Jobs: jobs}); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		e := sink.until(t, "scrape of "+c.job, of(c.job+"/"+secureHost(c.on)))
		if (e.State == wire.StateOK) != (c.wrong == "") {
			t.Errorf("%s: state %s", c.job, e.State)
		}
		waitFor(t, "status of "+c.job, func() bool {
			for _, st := range s.Targets() {
				if st.Job == c.job && st.State != "unknown" {
					return c.wrong == "" && st.Error == "" || c.wrong != "" && strings.Contains(st.Error, c.wrong)
				}
			}
			return false
		})
	}
	for _, st := range s.Targets() {
		if text := fmt.Sprint(st); strings.Contains(text, "s3cret") || strings.Contains(text, "t0ken") {
			t.Errorf("the status of %s tells a secret: %s", st.Job, text)
		}
	}
}

// TestSecretIsReadAgain: a token that is renewed in its file needs no reload.
func TestSecretIsReadAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	save := func(token string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	save("old")
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer new" {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		fmt.Fprint(w, "a 1\n")
	}))
	defer srv.Close()
	sink := newSink()
	s, _ := newScraper(t, sink)
	if err := s.Apply(Set{Jobs: []*promconfig.ScrapeConfig{quick(t, "j", "authorization: {credentials_file: "+file+"}", host(srv))}}); err != nil {
		t.Fatal(err)
	}
	sink.until(t, "refusal", failed("j/"+host(srv)))
	save("new")
	sink.until(t, "scrape", func(e spool.Entry) bool { return e.State == wire.StateOK })
}

// certificate writes the server's certificate and key for a client.
func certificate(t *testing.T, dir string, srv *httptest.Server) {
	t.Helper()
	key, err := x509.MarshalPKCS8PrivateKey(srv.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: srv.Certificate().Raw},
		"key.pem":  {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func secureHost(s *httptest.Server) string { return strings.TrimPrefix(s.URL, "https://") }
