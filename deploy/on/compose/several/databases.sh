#!/usr/bin/env bash
# Creates the roles and databases that the URLs in the secrets name. Only its role may use a database. The image runs
# this on an empty volume.
set -euo pipefail

make() {
	local url rest
	url=$(cat "${SECRETS:-/run/secrets}/$1")
	rest=${url#*://} # USER:PASSWORD@HOST:PORT/DATABASE?…
	export ROLE=${rest%%:*} PASSWORD DATABASE
	rest=${rest#*:}
	PASSWORD=${rest%%@*}
	rest=${rest#*/}
	DATABASE=${rest%%\?*}
	# By the environment: a command line is visible to other users, and a quote in a value could end an SQL text.
	psql --quiet --no-psqlrc --variable ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres <<'SQL'
\getenv role ROLE
\getenv password PASSWORD
\getenv database DATABASE
CREATE ROLE :"role" LOGIN PASSWORD :'password';
CREATE DATABASE :"database" OWNER :"role" ENCODING 'UTF8';
REVOKE ALL ON DATABASE :"database" FROM PUBLIC;
SQL
}

make store
make mle-store
