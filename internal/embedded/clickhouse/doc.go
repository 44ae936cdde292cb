// Package clickhouse is ClickHouse for one machine: the engine of libchdb behind
// ClickHouse's own HTTP interface, on loopback only. clickhouse-go over HTTP,
// goose through database/sql and curl work against it as against a server.
//
// Every request gets a session of its own, as over HTTP it should: settings, SET
// and USE end with the request. That costs 0.2 ms and leaves nothing to reset.
//
// What differs from a server: session_id is refused; the database "default" exists
// but SQL may not read files or the network; blocks in Native always have the
// plain layout (revision 0), which the answer to the client's hello says; a
// statement's own queryID() is not the query_id of the request, which only names
// it in the answer's headers; formats with a header or footer (JSON, Parquet, …)
// are built whole before they are sent, while TabSeparated, CSV, JSONEachRow,
// RowBinary and Native stream.
package clickhouse
