// Package bearer asks the callers of an HTTP handler for a token that stands in a file.
package bearer

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// Bounds of a token, in bytes: shorter ones can be guessed.
const (
	MinToken = 16
	MaxToken = 4096
)

// Guard is the middleware that lets through what carries the file's token, and has refuse
// answer everything else with 401. Without a file it lets everything through.
func Guard(file string, refuse func(w http.ResponseWriter, why string)) (func(http.Handler) http.Handler, error) {
	if file == "" {
		return func(next http.Handler) http.Handler { return next }, nil
	}
	token, err := readToken(file)
	if err != nil {
		return nil, fmt.Errorf("read token: %w", err)
	}
	// Of equal length, hashes are compared in a time that tells nothing of the token, not
	// even its length.
	want := sha256.Sum256(token)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
			got := sha256.Sum256([]byte(token))
			if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
				w.Header().Set("WWW-Authenticate", `Bearer realm="sextant"`)
				refuse(w, "want the header Authorization: Bearer TOKEN")
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
	token, err := io.ReadAll(io.LimitReader(f, MaxToken+1))
	if err != nil {
		return nil, err
	}
	token = bytes.TrimSpace(token)
	if len(token) < MinToken || len(token) > MaxToken {
		return nil, fmt.Errorf("%s: want %d to %d bytes", file, MinToken, MaxToken)
	}
	if bytes.ContainsAny(token, " \t\r\n") {
		return nil, errors.New(file + ": want one word")
	}
	return token, nil
}
