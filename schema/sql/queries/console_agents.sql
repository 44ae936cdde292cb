SELECT count(), toUInt64(sum(received)), toUInt64(sum(lost)), toUInt64(sum(dropped)), toUInt64(sum(pending)), toUInt64(sum(resent)) FROM {{.DB}}.ledger
