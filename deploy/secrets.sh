#!/usr/bin/env bash
# Makes what docker-compose.yml needs and no repository may hold: a certificate authority,
# a certificate for each service, random passwords and an API token. Nothing is
# overwritten: a second run only fills what is missing.
#
#   deploy/secrets.sh            writes deploy/secrets/
set -euo pipefail
umask 077
dir=$(cd "$(dirname "$0")" && pwd)/secrets
mkdir -p "$dir"
cd "$dir"

random() { openssl rand -hex 24; }

if [[ ! -f ca.pem ]]; then
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 \
		-subj "/CN=sextant compose CA" -keyout ca.key -out ca.pem 2>/dev/null
fi

# certificate NAME: NAME.pem and NAME.key for the compose host name and localhost, for
# serving and for presenting as a client; NAME.store.pem is both, as Kafka reads it.
certificate() {
	[[ -f $1.pem ]] && return
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" \
		-keyout "$1.key" -out "$1.csr" 2>/dev/null
	openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 825 -out "$1.pem" \
		-extfile <(printf 'subjectAltName=DNS:%s,DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n' "$1") 2>/dev/null
	cat "$1.key" "$1.pem" ca.pem >"$1.store.pem"
	rm "$1.csr"
	# The containers run as other users than the one who runs this script.
	chmod 644 "$1.pem" "$1.key" "$1.store.pem"
}
for name in kafka clickhouse node-exporter agent pipeline api ingest; do certificate "$name"; done
chmod 644 ca.pem

[[ -f clickhouse_password ]] || random >clickhouse_password
[[ -f clickhouse_reader_password ]] || random >clickhouse_reader_password
[[ -f grafana_password ]] || random >grafana_password
[[ -f api_token ]] || random >api_token
[[ -f ingest_token ]] || random >ingest_token
chmod 644 clickhouse_password clickhouse_reader_password grafana_password api_token ingest_token

sha() { tr -d '\n' <"$1" | sha256sum | cut -d' ' -f1; }
cat >clickhouse-users.xml <<XML
<clickhouse>
  <profiles>
    <!-- 2: reads only, but a client may set how long its query runs, as all do. -->
    <sextant_reader><readonly>2</readonly></sextant_reader>
  </profiles>
  <users>
    <default remove="remove"/>
    <sextant>
      <password_sha256_hex>$(sha clickhouse_password)</password_sha256_hex>
      <networks><ip>::/0</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
      <grants>
        <query>GRANT ALL ON sextant.*</query>
        <query>GRANT CREATE DATABASE ON *.*</query>
        <query>GRANT SELECT ON system.*</query>
      </grants>
    </sextant>
    <sextant_reader>
      <password_sha256_hex>$(sha clickhouse_reader_password)</password_sha256_hex>
      <networks><ip>::/0</ip></networks>
      <profile>sextant_reader</profile>
      <quota>default</quota>
      <grants>
        <query>GRANT SELECT ON sextant.*</query>
      </grants>
    </sextant_reader>
  </users>
</clickhouse>
XML
chmod 644 clickhouse-users.xml

cat >web.yaml <<'YAML'
# Listeners of agent, pipeline and node-exporter: TLS, and a client certificate of this CA.
tls_server_config:
  cert_file: /run/sextant/service.pem
  key_file: /run/sextant/service.key
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: /run/sextant/ca.pem
YAML
cat >web-api.yaml <<'YAML'
# Listeners of the feature API and of ingest: TLS; the programs themselves ask for the token.
tls_server_config:
  cert_file: /run/sextant/service.pem
  key_file: /run/sextant/service.key
YAML
chmod 644 web.yaml web-api.yaml
echo "secrets are in $dir"
