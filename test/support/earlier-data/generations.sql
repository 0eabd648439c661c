PRAGMA user_version = 2;
CREATE TABLE generation ( number INTEGER PRIMARY KEY, state TEXT NOT NULL, source TEXT NOT NULL, made_at TEXT NOT NULL , indices TEXT, switching INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE rebuild ( id INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT NOT NULL, generation INTEGER NOT NULL, phase TEXT NOT NULL, wanted TEXT NOT NULL, started_at TEXT NOT NULL, progress TEXT NOT NULL, message TEXT ) STRICT;
CREATE TABLE difference ( "group" TEXT NOT NULL, name TEXT NOT NULL, before TEXT, after TEXT ) STRICT;
INSERT INTO "generation" ("number", "state", "source", "made_at", "indices", "switching") VALUES (1, 'live', 'log', '2026-11-23T07:50:12.673Z', NULL, 0);
