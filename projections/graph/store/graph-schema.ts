/**
 * Schema of the content graph's file. Everything has a number. `names.id` is the number of a content type or of a *model attribute* (a
 * relation or unique attribute). `entries.id` is that of an entry, which is a document in one locale. A row has `entry * 4 + version` (0
 * draft, 1 published, 2 without versions). So a link needs no join to know its rows.
 */
export const GRAPH_MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;

  -- Next value of: 'entry', 'link', 'id <type>', 'component <uid>'.
  CREATE TABLE sequences (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;

  -- Content types ('[uid]') and attributes of a row set ('[uid, path, attribute]') by number.
  CREATE TABLE names (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

  -- Content types in force, as defined in the log.
  CREATE TABLE definitions (uid TEXT PRIMARY KEY, position INTEGER NOT NULL, data TEXT NOT NULL) WITHOUT ROWID;

  -- One per document and locale ('' = null) that ever existed or was linked to. revision: of the stream, as far as this entry
  -- wrote it. shared_…: position of the document's last edit and publication of a value that all locales share.
  CREATE TABLE entries (
    id INTEGER PRIMARY KEY,
    type INTEGER NOT NULL,
    document_id TEXT NOT NULL,
    locale TEXT NOT NULL,
    revision INTEGER,
    shared_edited INTEGER NOT NULL,
    shared_published INTEGER NOT NULL,
    UNIQUE (document_id, type, locale)
  );

  -- source: response JSON (id, public scalars, times). hidden: private scalars. components: their values with ids, without
  -- relations (these are links). position: of the last edit; on a published row of its publication.
  CREATE TABLE rows (
    key INTEGER PRIMARY KEY,
    type INTEGER NOT NULL,
    position INTEGER NOT NULL,
    source BLOB NOT NULL,
    hidden TEXT,
    components TEXT
  );

  CREATE TABLE ids (type INTEGER NOT NULL, id INTEGER NOT NULL, key INTEGER NOT NULL, PRIMARY KEY (type, id)) WITHOUT ROWID;

  -- Of published and live rows.
  CREATE TABLE unique_values (
    attribute INTEGER NOT NULL,
    value TEXT NOT NULL,
    entry INTEGER NOT NULL,
    PRIMARY KEY (attribute, value, entry)
  ) WITHOUT ROWID;

  -- Both worlds of a link in one row; null orders = not in that world. component = 0: the entry's own relation.
  CREATE TABLE links (
    source INTEGER NOT NULL,
    relation INTEGER NOT NULL,
    component INTEGER NOT NULL,
    target INTEGER NOT NULL,
    draft_source_order REAL,
    draft_target_order REAL,
    published_source_order REAL,
    published_target_order REAL,
    PRIMARY KEY (source, relation, component, target)
  ) WITHOUT ROWID;
  CREATE INDEX links_by_target ON links (target, relation);

  -- Links whose draft side was edited from the inverse side by 'editor' since either end was last published.
  CREATE TABLE pending_edits (
    source INTEGER NOT NULL,
    relation INTEGER NOT NULL,
    target INTEGER NOT NULL,
    editor INTEGER NOT NULL,
    PRIMARY KEY (source, relation, target)
  ) WITHOUT ROWID;
  CREATE INDEX pending_edits_by_editor ON pending_edits (editor);
  CREATE INDEX pending_edits_by_target ON pending_edits (target);
  `,
  `
  -- Rows whose document in a world is out of date, where the read index is made of documents. prompt = 1: a write waits for it.
  -- since, position: of the first and the last change the document does not show; marked_at: milliseconds since 1970.
  CREATE TABLE stale (
    world INTEGER NOT NULL,
    key INTEGER NOT NULL,
    prompt INTEGER NOT NULL,
    since INTEGER NOT NULL,
    position INTEGER NOT NULL,
    marked_at INTEGER NOT NULL,
    PRIMARY KEY (world, key)
  ) WITHOUT ROWID;
  CREATE INDEX stale_in_turn ON stale (prompt, since, key);

  -- Documents that the read index refused as they were at a position.
  CREATE TABLE parked (
    world INTEGER NOT NULL,
    key INTEGER NOT NULL,
    position INTEGER NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (world, key)
  ) WITHOUT ROWID;
  `,
  `
  -- Commands that may be sent again, by id. request: digest of what was asked for. position: of the last event.
  -- kept_until: milliseconds since 1970.
  CREATE TABLE commands (
    id TEXT PRIMARY KEY,
    request TEXT,
    document_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    kept_until INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX commands_by_end ON commands (kept_until);
  `,
  `
  -- The last event that was applied. chain: head of the log's hash chain there, or null.
  CREATE TABLE last_event (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    position INTEGER NOT NULL,
    id TEXT NOT NULL,
    stream TEXT NOT NULL,
    revision INTEGER NOT NULL,
    chain TEXT
  );
  `,
  `
  -- Commands are forgotten when the clock of commands (command-clock.ts) is behind this. Those from before it are kept for a
  -- day and an hour of it.
  ALTER TABLE commands ADD COLUMN forgotten_at INTEGER NOT NULL DEFAULT 90000000;
  `,
  `
  -- 1: not listed any more, since an operator has dropped it or has it tried again.
  ALTER TABLE parked ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0;
  `,
  `
  -- Definitions that showed kept values.
  CREATE TABLE kept_definitions (id INTEGER PRIMARY KEY, data TEXT NOT NULL UNIQUE);

  -- Values that the definition in force does not show, see kept-values.ts. owner: '<component uid> <id>', or '' for the row itself.
  CREATE TABLE kept_values (
    entry INTEGER NOT NULL,
    version INTEGER NOT NULL,
    owner TEXT NOT NULL,
    attribute TEXT NOT NULL,
    definition INTEGER NOT NULL,
    data TEXT NOT NULL,
    -- Number of the last deletion before the value was kept.
    deletion INTEGER NOT NULL,
    PRIMARY KEY (entry, version, owner, attribute)
  ) WITHOUT ROWID;

  -- Entries that were deleted while values were kept: links to them inside earlier kept values are gone.
  CREATE TABLE kept_deletions (entry INTEGER PRIMARY KEY, number INTEGER NOT NULL UNIQUE);

  -- Links of content types' relations that the definition in force does not show.
  CREATE TABLE kept_links (
    source INTEGER NOT NULL,
    relation INTEGER NOT NULL,
    target INTEGER NOT NULL,
    draft_source_order REAL,
    draft_target_order REAL,
    published_source_order REAL,
    published_target_order REAL,
    PRIMARY KEY (source, relation, target)
  ) WITHOUT ROWID;
  CREATE INDEX kept_links_by_target ON kept_links (target);
  CREATE INDEX kept_links_by_relation ON kept_links (relation);
  `,
  `
  -- Some of the applied events, as in last_event. They show how far this graph and a log have one history.
  CREATE TABLE applied_events (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    stream TEXT NOT NULL,
    revision INTEGER NOT NULL
  );
  `,
  `
  -- What each event did to each row, see projections/journal. event: 0 create, 1 update, 2 delete. names: JSON; null: any.
  CREATE TABLE journal (
    position INTEGER NOT NULL,
    part INTEGER NOT NULL,
    key INTEGER NOT NULL,
    event INTEGER NOT NULL,
    names TEXT,
    links_after INTEGER,
    PRIMARY KEY (position, part)
  ) WITHOUT ROWID;

  -- unpublished: names of what was changed since both versions were equal, as in the journal. equal_at: position where they were.
  ALTER TABLE entries ADD COLUMN unpublished TEXT DEFAULT '';
  ALTER TABLE entries ADD COLUMN equal_at INTEGER NOT NULL DEFAULT 0;
  `,
  `
  -- Changes for the embedded index after its last snapshot, see index-changes.ts.
  CREATE TABLE index_changes (position INTEGER PRIMARY KEY, batch BLOB NOT NULL);
  `,
  `
  CREATE INDEX journal_removals ON journal (position) WHERE event = 2;
  `,
];
