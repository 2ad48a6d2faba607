/** Another one makes every index anew: raise it when tables, folding or the extraction of text change. */
export const INDEX_VERSION = 1;

/**
 * `words` keeps no text, only where words stand: names and texts are folded already, and every letter, number and mark
 * is part of a word, as in our own rules.
 */
export const INDEX_SCHEMA = `
  CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    file_id TEXT NOT NULL UNIQUE,
    node_id TEXT NOT NULL,
    path TEXT NOT NULL,
    modified_ms INTEGER NOT NULL,
    text_sha256 TEXT,
    state TEXT CHECK (state IN ('done', 'none', 'failed', 'too_large'))
  ) STRICT;
  CREATE INDEX files_node ON files (node_id);
  CREATE TABLE texts (id INTEGER PRIMARY KEY, text BLOB NOT NULL) STRICT;
  CREATE VIRTUAL TABLE words USING fts5 (
    name, body, content = '', contentless_delete = 1,
    tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
  );
  INSERT INTO words (words, rank) VALUES ('hashsize', 4194304);`;
