import { CONDITIONS, type ConditionCode } from './condition-table.ts';

/** Row of the runbook: what somebody sees, and what it is and what to do. Both are Markdown. `conditions`: what such a row is about. */
export type RunbookRow = {
  readonly what: string;
  readonly text: string;
  readonly conditions?: readonly ConditionCode[];
};

/** Rows that say more than a condition, in the order of the runbook. */
const ROWS: readonly RunbookRow[] = [
  {
    what: 'writes answer 503 "There is no leader"',
    text: 'No process that can become leader is running, or no such process reaches the log. Start one; `varve_leading` shows the leader. Reads continue.',
    conditions: ['no-leader'],
  },
  {
    what: 'writes answer 503 "… the write may have been stored"',
    text: 'The leader did not answer, and no other process has taken over yet. Check whether the write is there, or send it again with the same Idempotency-Key.',
  },
  {
    what: 'a process says `waiting: the content types differ`',
    text: 'The leader has other content types. Start all processes with the same folder, the projects first.',
    conditions: ['types-differ'],
  },
  {
    what: '`another process changed the content types` and it ends',
    text: 'A leader with another folder took over. Deploy the same folder and start it again.',
  },
  {
    what: 'a `varve api` says `the content types have changed: reads are answered as before`',
    text: 'The leader is building the indices for the new content types. This process ends when they are live. Start it with the new folder then.',
  },
  {
    what: '`the server did not switch to the new read model`, and writes answer 503',
    text: 'Elasticsearch does not have the documents that were written. The line lists the differences. `varve rebuild --graph --accept` switches in spite of them, and `varve verify --repair` then writes the documents again. A start with the earlier folder also accepts writes again, with the earlier content types. If the line says `run "varve rebuild --graph"`, the rebuild was interrupted, and its reason is in the line.',
    conditions: ['types-change-stopped'],
  },
  {
    what: '`another process became the leader while the read model for the new content types was being built` and it ends',
    text: 'Start it again. The new leader builds the read model now.',
  },
  {
    what: '`varve_halted` is 1, `varve status` says `Stopped before the event at position …`',
    text: 'The process cannot read an event: a newer version wrote it, or it is damaged. It answers reads from the content before the event, answers writes with 503, and cannot become leader. Start it with the newer version. Restore a damaged log ([events](events.md#what-a-reader-does-with-an-event-that-it-cannot-read)).',
    conditions: ['halted'],
  },
  {
    what: '`varve_foreign_events_total` grows',
    text: 'Another program writes into streams of this namespace. Varve skips its events; `varve parked list` names them.',
  },
  {
    what: '`/health/ready` says `lagging`',
    text: 'The process applies the log more slowly than it grows, or was stopped for a while. If `varve_projection_lag_events` falls, wait. If not, look for a slow disk or too little CPU.',
    conditions: ['lagging'],
  },
  {
    what: '`/health/ready` says `log-unreachable`',
    text: "KurrentDB, or the disk with the log's file, is not available. Reads continue. A log line names the reason immediately (`the event log: no server listens at …`).",
    conditions: ['log-unreachable'],
  },
  {
    what: 'writes answer 413 "too large for the event log"',
    text: 'The entry is larger than the server accepts in one append ([settings](kurrentdb.md#versions-and-settings)).',
  },
  {
    what: '`varve_fanout_backlog_documents` grows',
    text: 'Someone edited a row that very many documents embed, or Elasticsearch is slow. Searches show the edited row, but copies in other documents are late. If the backlog still grows after hours, the leader cannot fan out so many edits ([sizing](sizing.md#sizing-for-the-whole-internet)).',
    conditions: ['index-behind'],
  },
  {
    what: '`varve_index_refused_documents` is not 0',
    text: 'Elasticsearch refused documents; `varve parked list` says why ([below](#parked-documents)).',
    conditions: ['documents-parked'],
  },
  {
    what: '`Elasticsearch accepts no documents, trying again`',
    text: 'Elasticsearch is unavailable, full or read-only (`cluster.routing.allocation.disk`). Nothing is lost. Varve stores writes, and answers them with 202 after ten seconds. The leader writes the missing documents later.',
    conditions: ['read-index-unreachable'],
  },
  {
    what: '`an index has changed behind Varve`',
    text: 'Somebody has deleted, restored, closed or blocked an index, moved its alias, or deleted or added documents in it. Reads of the type answer 503; the line has the reason. Varve makes a lost index again by itself ([how](elasticsearch.md#changes-by-others)). Open a closed index and lift a block, or delete the index.',
    conditions: ['index-unusable'],
  },
  {
    what: 'reads answer 503 "The read index cannot be reached"',
    text: 'No node of Elasticsearch answers.',
    conditions: ['read-index-unreachable'],
  },
  {
    what: 'reads with `Varve-Min-Position` answer 503',
    text: 'The embedded copies wait in a long backlog, or the leader is gone. Reads without the header are answered.',
  },
  {
    what: '`a scheduled release failed`, or `varve status` says `releases-failed`',
    text: 'An entry was refused at its time, so nothing of the release was published. `varve release show <id>` and `GET /_varve/releases` have the reasons. Repair the entry and give the release another time ([releases](releases.md#at-its-time)).',
    conditions: ['releases-failed'],
  },
  { what: '`a scheduled release was carried out late`', text: 'No leader ran at its time. Nothing is lost.' },
  {
    what: 'uploads answer 503 "The asset store cannot be reached"',
    text: 'The S3-compatible store is unavailable. Everything else continues.',
  },
  {
    what: 'writes answer 503 "… disk … is full"',
    text: 'The disk of the log or of the graph is full. Reads continue, also after a restart. Free some space: writes work again within half a minute. A start on a full disk deletes the file `reserve` in the data directory to get space, and recreates it later.',
    conditions: ['disk-full'],
  },
  {
    what: 'the leader is slow or paused',
    text: 'A standby takes over after some two seconds of silence, or four if that happened in the last five minutes. Later appends of the old leader have no effect.',
  },
  {
    what: '`… was replaced or removed while it was open` and it ends',
    text: 'Someone moved `events.db`, or truncated it, under a running process. Nothing was stored after that. Restore the right log, and start again.',
  },
  {
    what: '`The event log is damaged` at a start or from a command',
    text: 'The disk or another program has changed `events.db`. Keep the file, and [restore the last backup](#the-data-directory-is-lost) to a new data directory.',
  },
  {
    what: '`a command has the data directory: waiting for its end`',
    text: 'A command such as `verify` or `backup` runs without a server. The line names its process. The start continues when the command ends. If the command is paused, continue or end it.',
  },
  {
    what: '`… is in use` at a start',
    text: 'Another server uses this data directory. Each needs its own. A start waits 5 s for a worker whose supervisor was killed. If that worker is stopped (SIGSTOP), kill it: `ps` shows it as `varve … worker serve`.',
  },
  {
    what: 'a command says `… has sent nothing for a minute`',
    text: 'The server or its worker is paused (SIGSTOP, `docker pause`), or hangs. Continue it with `kill -CONT`, or end it with `kill -9` and start it again. Then repeat the command: a rebuild and an import continue.',
  },
  {
    what: '`the worker crashed: starting another one`, `varve_worker_restarts` grows',
    text: "The line says how the worker ended. If no person sent SIGKILL, the kernel did because memory was full: add memory. SIGABRT, or code 134, means that Node's heap is full. No acknowledged write is lost.",
  },
  {
    what: 'the same line with `SIGKILL` and `--workers`',
    text: 'The supervisor killed a worker that sent no heartbeat for 2 s, or did not apply the log while a write waited. The common cause is too few processors for the number of workers. A rare cause is a long garbage collection or a slow disk.',
  },
  {
    what: '`no code handled a failure of this request`, `varve_contained_failures_total` grows',
    text: 'A bug of Varve. Only this request failed, with 500 if it was a read. Report the line with its stack.',
  },
  {
    what: 'a token has leaked',
    text: 'Run `varve token revoke` once. It takes effect everywhere within a second ([access.md](access.md)).',
  },
  {
    what: 'the access key has leaked',
    text: 'Start every process with a new one, and create all tokens again.',
  },
  {
    what: 'a start or a command says `this user may not do that`, `the file system is read-only` or `a folder has the name of a file`',
    text: "The message names the file. Run the command as the server's user. Correct owner and mode: the directory and its files belong to that user, with the modes 700 and 600.",
  },
  {
    what: '`database is locked: another process …`',
    text: 'Another program has an open transaction on the file, for example a shell of SQLite, or a server that was paused in a write. End it.',
  },
  {
    what: 'a machine is lost',
    text: 'Start another with an empty `--data`: it replays the log. Only the log, the uploaded files and the access key are irreplaceable.',
  },
];

/** Returns the rows of the runbook about a condition. None: the runbook has the words of the condition. */
export function rowsAbout(code: ConditionCode): readonly RunbookRow[] {
  return ROWS.filter(({ conditions }) => conditions?.includes(code));
}

/** Returns all rows of the runbook. A condition without a row of its own has one with its words. */
export function runbookRows(): readonly RunbookRow[] {
  const others = (Object.keys(CONDITIONS) as ConditionCode[]).filter((code) => rowsAbout(code).length === 0);
  return [...ROWS, ...others.map(rowOf)];
}

function rowOf(code: ConditionCode): RunbookRow {
  const { readers, writers, advice } = CONDITIONS[code];
  const words = new Set([readers, writers, advice]);
  return { what: `\`varve status\` shows \`${code}\``, text: [...words].join(' '), conditions: [code] };
}
