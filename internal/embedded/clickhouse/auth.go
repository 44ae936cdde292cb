package clickhouse

import (
	"crypto/subtle"
	"net"
	"net/http"
)

// authenticate lets in the user default with the configured password, given by
// header, basic authentication or URL, in that order.
func (s *Server) authenticate(r *http.Request) error {
	user, password := r.Header.Get("X-ClickHouse-User"), r.Header.Get("X-ClickHouse-Key")
	if user == "" && password == "" {
		user, password, _ = r.BasicAuth()
	}
	if user == "" && password == "" {
		user, password = r.URL.Query().Get("user"), r.URL.Query().Get("password")
	}
	if user == "" {
		user = "default"
	}
	if user == "default" && subtle.ConstantTimeCompare([]byte(password), []byte(s.cfg.Password)) == 1 {
		return nil
	}
	if user == "default" && password == "" {
		return fail(codeRequiredPassword, "default: Authentication failed: a password is needed")
	}
	return fail(codeAuthentication, "%.64s: Authentication failed: password is incorrect, or there is no user with such name", user)
}

// local refuses what a web page in a browser of this machine could send: a name
// that was made to resolve to loopback.
func local(r *http.Request) error {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if len(host) > 1 && host[0] == '[' {
		host = host[1 : len(host)-1]
	}
	if isLoopback(host) {
		return nil
	}
	return fail(codeAccessDenied, "Host %.128q is not this machine's loopback", r.Host)
}
