package clickhouse

import (
	"context"
	"io"
	"mime/multipart"
	"net/url"
	"strings"

	"sextant/internal/chdb"
)

// ofTable reports whether a URL parameter describes an external table: its
// structure, or the format of one whose structure is there.
func ofTable(name string, values url.Values) bool {
	table, isFormat := strings.CutSuffix(name, "_format")
	if isFormat {
		return values.Has(table + "_structure")
	}
	return strings.HasSuffix(name, "_structure")
}

// externalTables reads a multipart body: each file becomes a temporary table of
// the session, and the field query is the rest of the statement.
func (q *request) externalTables(ctx context.Context, conn *chdb.Conn, body io.Reader, values url.Values) (io.Reader, error) {
	var query strings.Builder
	for m := multipart.NewReader(body, q.tables); ; {
		part, err := m.NextRawPart()
		if err == io.EOF {
			return strings.NewReader(query.String()), nil
		}
		if err != nil {
			return nil, fail(codeBadArguments, "multipart body: %v", err)
		}
		name := part.FormName()
		if part.FileName() == "" && name == "query" {
			if _, err := io.Copy(&query, io.LimitReader(part, int64(q.maxQuery())+1)); err != nil {
				return nil, fail(codeBadArguments, "multipart body: %v", err)
			}
			continue
		}
		if err := fill(ctx, conn, name, part, values); err != nil {
			return nil, err
		}
	}
}

func fill(ctx context.Context, conn *chdb.Conn, name string, data io.Reader, values url.Values) error {
	structure := values.Get(name + "_structure")
	if structure == "" {
		return fail(codeBadArguments, "external table %q: the URL has no %s_structure", name, name)
	}
	create := "CREATE TEMPORARY TABLE " + quoteName(name) + " (" + structure + ")"
	if split(create).many {
		return fail(codeBadArguments, "external table %q: its structure ends the statement", name)
	}
	if err := conn.Exec(ctx, create); err != nil {
		return err
	}
	format := values.Get(name + "_format")
	if format == "" {
		format = "TabSeparated"
	}
	in, err := conn.Insert(ctx, "INSERT INTO "+quoteName(name), format)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = pump(in, nil, data)
	return err
}
