package exposition

import (
	"fmt"
	"mime"
)

// Format is the syntax of a page.
type Format uint8

// The formats that are read.
const (
	Text        Format = iota // Prometheus text 0.0.4
	OpenMetrics               // OpenMetrics text 1.0
)

// Accept is the Accept header of a scrape that asks for what this package reads.
const Accept = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6," +
	"text/plain;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;q=0.4,*/*;q=0.1"

// FormatOf returns the format that a Content-Type header names. Many exporters send
// none or a bare text/plain: both mean Text. Anything else that is not text (HTML of a
// login page, JSON, protobuf) is an error.
func FormatOf(contentType string) (Format, error) {
	if contentType == "" {
		return Text, nil
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil && media == "" {
		return Text, fmt.Errorf("content type %q: %w", clip([]byte(contentType)), err)
	}
	switch media {
	case "application/openmetrics-text":
		return OpenMetrics, nil
	case "text/plain":
		return Text, nil
	}
	return Text, fmt.Errorf("content type %q is not a metrics page", clip([]byte(contentType)))
}
