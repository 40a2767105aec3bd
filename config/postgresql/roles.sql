-- Two roles for one database. `touchstone_owner` owns the tables: migrations, backups and restores
-- run as it. `touchstone_app` reads and writes rows and nothing else: web server and workers run as
-- it, and can neither change a table nor drop a trigger that keeps rows append-only.
--
-- Run it with psql as a superuser, in the database. docker-compose.yml does so on a new volume; on
-- one that was made before there were roles, it hands over what is there. Safe to run again.

\set ON_ERROR_STOP on
\getenv owner_password POSTGRES_OWNER_PASSWORD
\getenv app_password POSTGRES_APP_PASSWORD

SELECT format('CREATE ROLE %I', name)
FROM unnest(ARRAY['touchstone_owner', 'touchstone_app']) AS name
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) \gexec

ALTER ROLE touchstone_owner LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS
  PASSWORD :'owner_password';
ALTER ROLE touchstone_app LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS
  PASSWORD :'app_password';

REVOKE ALL ON DATABASE :"DBNAME" FROM PUBLIC;
ALTER DATABASE :"DBNAME" OWNER TO touchstone_owner;
GRANT CONNECT ON DATABASE :"DBNAME" TO touchstone_app;
ALTER SCHEMA public OWNER TO touchstone_owner;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO touchstone_app;

-- What is there already becomes the owner's, except what belongs to an extension. Sequences of
-- columns follow their tables.
SELECT format('ALTER TABLE public.%I OWNER TO touchstone_owner', relname)
FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
  AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e') \gexec
SELECT format('ALTER ROUTINE %s OWNER TO touchstone_owner', oid::regprocedure)
FROM pg_proc
WHERE pronamespace = 'public'::regnamespace
  AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e') \gexec

REVOKE ALL ON ALL TABLES IN SCHEMA public FROM touchstone_app;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM touchstone_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO touchstone_app;
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO touchstone_app;
-- and what migrations will make
ALTER DEFAULT PRIVILEGES FOR ROLE touchstone_owner IN SCHEMA public
  GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO touchstone_app;
ALTER DEFAULT PRIVILEGES FOR ROLE touchstone_owner IN SCHEMA public
  GRANT USAGE, SELECT ON SEQUENCES TO touchstone_app;
