package ingest

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

const (
	minToken = 16   // bytes: shorter ones can be guessed
	maxToken = 4096 // bytes
)

// newGuard is the middleware that lets through what carries the file's token. Without a
// file it lets everything through.
func newGuard(file string) (func(http.Handler) http.Handler, error) {
	if file == "" {
		return func(next http.Handler) http.Handler { return next }, nil
	}
	token, err := readToken(file)
	if err != nil {
		return nil, fmt.Errorf("read token: %w", err)
	}
	// Hashes are of equal length, so comparing them tells nothing of the token's.
	want := sha256.Sum256(token)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
			got := sha256.Sum256([]byte(token))
			if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
				w.Header().Set("WWW-Authenticate", `Bearer realm="sextant"`)
				refuse(w, http.StatusUnauthorized, "want the header Authorization: Bearer TOKEN")
				return
			}
			next.ServeHTTP(w, r)
		})
	}, nil
}

func readToken(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	token, err := io.ReadAll(io.LimitReader(f, maxToken+1))
	if err != nil {
		return nil, err
	}
	token = bytes.TrimSpace(token)
	if len(token) < minToken || len(token) > maxToken || bytes.ContainsAny(token, " \t\r\n") {
		return nil, fmt.Errorf("%s: want one word of %d to %d bytes", file, minToken, maxToken)
	}
	return token, nil
}
