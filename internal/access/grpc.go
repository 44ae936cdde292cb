package access

import (
	"errors"
	"net/http"

	"connectrpc.com/connect"
)

// GRPC is refuse for the paths of gRPC services: a client of gRPC, gRPC-Web or Connect is
// answered in its own way, any other by refuse.
func GRPC(refuse Refuse) Refuse {
	errs := connect.NewErrorWriter()
	return func(w http.ResponseWriter, r *http.Request, status int, why string) {
		if !errs.IsSupported(r) {
			refuse(w, r, status, why)
			return
		}
		_ = errs.Write(w, r, connect.NewError(Code(status), errors.New(why))) // a client that went away needs no answer
	}
}

// Code is the code of gRPC for an HTTP status that refuses a request.
func Code(status int) connect.Code {
	switch status {
	case http.StatusUnauthorized:
		return connect.CodeUnauthenticated
	case http.StatusForbidden:
		return connect.CodePermissionDenied
	case http.StatusNotFound:
		return connect.CodeNotFound
	case http.StatusTooManyRequests, http.StatusRequestEntityTooLarge:
		return connect.CodeResourceExhausted
	case http.StatusServiceUnavailable:
		return connect.CodeUnavailable
	}
	return connect.CodeInvalidArgument
}
