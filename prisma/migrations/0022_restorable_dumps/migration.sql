-- pg_dump writes what a function calls before it only where the body is parsed: text may call anything. The table of files needs
-- this function, which calls one that came after the table, so that no dump could be restored.
CREATE OR REPLACE FUNCTION file.folded_name(path text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE WHEN octet_length(path) = length(path) THEN lower(split_part(path, '/', -1) COLLATE "C")
  ELSE graph.fold(split_part(path, '/', -1)) END;
