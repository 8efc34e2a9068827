#!/usr/bin/env bash
# Creates the roles and databases that the URLs in the secrets name. Only its role may use a database. The image runs
# this once, on an empty volume. After a failure, correct the secrets and run it again, as often as needed:
#   docker compose --file compose.yaml --file several.yaml --file postgres.yaml exec postgres bash /docker-entrypoint-initdb.d/databases.sh
set -euo pipefail

# parse NAME: sets ROLE, PASSWORD and DATABASE from the URL in the secret, or ends the script with the reason.
parse() {
	local rest
	rest=$(cat "${SECRETS:-/run/secrets}/$1")
	rest=${rest%%\?*}
	if [[ ! $rest =~ ^postgres(ql)?://([^:@/]+):([^@/]+)@([^/]*)/([^/]+)$ ]]; then
		echo "databases.sh: the secret $1 is not a URL with a user, a password, a host and a database" >&2
		exit 1
	fi
	if [[ $rest == *%* ]]; then
		echo "databases.sh: the secret $1 has an escape (%): use letters and digits only, as openssl rand -hex makes them" >&2
		exit 1
	fi
	export ROLE=${BASH_REMATCH[2]} PASSWORD=${BASH_REMATCH[3]} DATABASE=${BASH_REMATCH[5]}
}

make() {
	parse "$1"
	# By the environment: a command line is visible to other users, and a quote in a value could end an SQL text.
	psql --quiet --no-psqlrc --variable ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres <<'SQL'
\getenv role ROLE
\getenv password PASSWORD
\getenv database DATABASE
SELECT format('CREATE ROLE %I LOGIN', :'role') WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'role') \gexec
ALTER ROLE :"role" PASSWORD :'password';
SELECT format('CREATE DATABASE %I OWNER %I ENCODING ''UTF8''', :'database', :'role')
  WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'database') \gexec
REVOKE ALL ON DATABASE :"database" FROM PUBLIC;
SQL
}

parse store # both, before the first statement
parse mle-store
make store
make mle-store
