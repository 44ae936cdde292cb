// Package health asks a running program whether it is ready, for supervisors and
// containers that have no HTTP client which could present a certificate.
package health

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// Options say whom to ask and how.
type Options struct {
	URL      string        // http or https; without a path, /readyz is asked
	CAFile   string        // trusted in place of the system's authorities
	CertFile string        // client certificate, with KeyFile
	KeyFile  string        //
	Timeout  time.Duration // for the whole answer
}

// maxLine is how much of an answer is read and shown, in bytes.
const maxLine = 200

// Ask returns one line about a program that is ready. Anything else, a redirect as well,
// is an error.
func Ask(ctx context.Context, o Options) (string, error) {
	u, err := url.Parse(o.URL)
	if err != nil {
		return "", err
	}
	if u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("url %q: want http://host:port or https://host:port", o.URL)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/readyz"
	}
	security, err := o.security()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", err
	}
	// No proxy of the environment: the program that is asked is this host's.
	client := http.Client{
		Transport:     &http.Transport{TLSClientConfig: security, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	line := u.Redacted() + ": " + resp.Status
	if says := firstLine(resp.Body); says != "" {
		line += ": " + says
	}
	if resp.StatusCode != http.StatusOK {
		return "", errors.New(line)
	}
	return line, nil
}

// firstLine is the beginning of what a program says of itself, cut to maxLine.
func firstLine(r io.Reader) string {
	text, _ := bufio.NewReader(io.LimitReader(r, maxLine)).ReadString('\n') // cut or failed: what came is shown
	return strings.TrimSpace(strings.ToValidUTF8(text, ""))
}

func (o Options) security() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CAFile != "" {
		pem, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: holds no certificate", o.CAFile)
		}
	}
	if o.CertFile != "" || o.KeyFile != "" {
		pair, err := tls.LoadX509KeyPair(o.CertFile, o.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("client certificate: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
