// Package kafka is the adapter between the line and a Kafka broker: it is the only
// importer of kafka-go. The producer reports a result for each record and retries
// nothing; the consumer hands each assigned partition to a function, reads ahead of it by
// two buffers and commits only what it is told to commit.
//
// kafka-go brings connections, TLS, SASL, metadata, group membership and every request
// but one: Fetch is encoded and decoded here (see fetch.go and recordbatch.go).
package kafka
