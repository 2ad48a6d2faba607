-- Finding what nodes carry and who answers for it: responsibilities, actors, data sources and tools, names of files.

ALTER TABLE graph.responsibility ADD COLUMN search tsvector NOT NULL GENERATED ALWAYS AS (
  setweight(to_tsvector('simple', graph.fold(title)), 'A') ||
  setweight(to_tsvector('simple', graph.fold(description)), 'C')) STORED;
CREATE INDEX responsibility_search_idx ON graph.responsibility USING gin (search);

CREATE INDEX actor_name_trgm_idx ON graph.actor USING gin (name_folded gin_trgm_ops);

ALTER TABLE graph.link ADD COLUMN name_folded text NOT NULL GENERATED ALWAYS AS (graph.fold(name)) STORED;
CREATE INDEX link_name_trgm_idx ON graph.link USING gin (name_folded gin_trgm_ops);

-- Files come by the ten thousand, and most of their names need no folding but that of ASCII.
CREATE FUNCTION file.folded_name(path text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN octet_length(path) = length(path) THEN lower(split_part(path, '/', -1) COLLATE "C")
    ELSE graph.fold(split_part(path, '/', -1)) END
$$;
ALTER TABLE file.record ADD COLUMN name_folded text NOT NULL GENERATED ALWAYS AS (file.folded_name(path)) STORED;
CREATE INDEX record_name_trgm_idx ON file.record USING gin (name_folded gin_trgm_ops);

-- The published view of the names of files. Whoever reads it joins it to the nodes that the caller may see.
CREATE FUNCTION file.named_file() RETURNS TABLE (id uuid, node_id uuid, path text, name_folded text, updated_at timestamptz) LANGUAGE sql STABLE AS $$
  SELECT r.id, r.node_id, r.path, r.name_folded, r.updated_at FROM file.record r
$$;
